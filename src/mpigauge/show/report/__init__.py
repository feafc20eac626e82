"""The report that one hands over: all that is shown of results, as one page that needs nothing beside it."""
