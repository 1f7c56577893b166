"""
Files of other systems tried offline: `doseflow interfaces check`.

Takes files, gives what each door would understand and keep of them; stores nothing and asks nobody.
"""
