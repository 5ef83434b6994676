"""What lies under the home: files written whole or not at all, and one SQLite file that knows them.

``bridge.outputs`` and ``bridge.ledger`` are the doors; the rooms behind them are

    folders     folders and files, reached so that no symbolic link is followed
    database    the SQLite file: opened late, migrated, set aside when damaged
    schema      its tables, one migration after another
    inventory   which files are kept, how much they take, which are gone and why
    retention   what goes when time or room is up
    partial     the head and tail of an output that is too large
    writer      keeps outputs and attachments
    pages       one page of a stored file, found through an index
    reader      checks a file and gives its pages
    removal     takes from the disk what was struck off
    catalog     what a home holds, for a person
    paths       where things lie below the home
    reasons     the words that say why something is not there
    connecting  how the SQLite file is opened, made and migrated
    faults      what comes out of the database when it cannot be used
"""
