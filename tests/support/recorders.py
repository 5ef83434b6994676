"""Stand-ins for the services behind a worker's methods, which record what they were called with."""


class Recorder:
    """Records the calls of any of its methods and gives back what they were called with."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*positional, **named):
            self.calls.append((name, positional, named))
            return {"called": name}

        return call


class Recorders:
    def __init__(self, settings):
        self.settings = settings
        self.normalizer, self.outputs, self.ledger = Recorder(), Recorder(), Recorder()
