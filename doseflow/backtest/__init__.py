"""
Takes the kept cycles of a day and of the days before it, plans them again with the champion, and says how right it was
on that day against the others, and whether it should be trained anew. It reads the store and writes nothing.
"""
