"""
Who somebody is.

Takes what comes with a request (a session's token, a key, the name in a certificate) or at the sign-in (a name and a
password, the claims of an identity provider) and gives a `Caller`. What a caller may do is not decided here but in
`domain.permissions`; HTTP, TLS and databases are others' too.
"""
