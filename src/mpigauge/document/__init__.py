"""Documents of lines and tables, and the words that all of them share."""
