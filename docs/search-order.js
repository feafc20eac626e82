/* Which pages the search shows first: those that say what to do, then those that say why, then what is looked up,
 * and the design of the program last. Sphinx embeds this file (html_search_scorer in conf.py); its own scores come
 * from where a word was found, in a heading or below one. */

var WEIGHTS = [
  [/^which-command$/, 1.2],
  [/^(student|administrator|developer|researcher|integrations|coming-from-\w+)$/, 0.95],
  [/^(numbers|index)$/, 0.8],
  [/^method/, 0.6],
  [/^(cli|formats|result-file|gallery|peers|scoreboard|security|stability|reports\/.*)$/, 0.3],
  [/^design$/, 0.1],
];

var Scorer = {
  score: ([page, , , , score]) => score * (WEIGHTS.find(([pattern]) => pattern.test(page)) ?? [null, 1])[1],

  // As Sphinx has them.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
