"""The rules of the book, one file a family; `rule_book` is the table of contents."""
