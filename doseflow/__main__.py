"""`python -m doseflow`."""

from doseflow.cli import main

if __name__ == "__main__":
    main()
