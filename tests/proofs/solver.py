"""An SMT solver of this machine, asked over its standard input."""

import shutil
import subprocess

COMMANDS = {"z3": ["z3", "-in", "-smt2"], "cvc5": ["cvc5", "--lang=smt2", "--incremental", "--produce-models"]}
NO_SOLVER = 77  # the exit status by which ctest knows a skipped test


class Solver:
    """One process for all questions over some integers."""

    def __init__(self, name, logic, variables):
        self.name = name
        self._process = subprocess.Popen(COMMANDS[name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._say("(set-option :produce-models true)", f"(set-logic {logic})", *(f"(declare-const {variable} Int)" for variable in variables))

    @classmethod
    def find(cls, logic, variables, names=tuple(COMMANDS)):
        """The first that is installed; None, which it says, where there is none."""
        for name in names:
            if shutil.which(name):
                return cls(name, logic, variables)
        print(f"SKIPPED: no solver is installed ({' or '.join(names)}; apt-get install z3)")
        return None

    def _say(self, *lines):
        self._process.stdin.write("\n".join(lines) + "\n")
        self._process.stdin.flush()

    def model(self, *assertions, values=()):
        """The values under which the assertions hold together; None where they never do."""
        self._say("(push 1)", *(f"(assert {assertion})" for assertion in assertions), "(check-sat)")
        answer = self._process.stdout.readline().strip()
        found = [self._value(name) for name in values] if answer == "sat" else None
        if answer not in ("sat", "unsat"):
            raise SystemExit(f"the solver answers {answer!r}")
        self._say("(pop 1)")
        return found

    def _value(self, name):
        self._say(f"(get-value ({name}))")
        text = self._process.stdout.readline().replace("(- ", "-").replace("(", " ").replace(")", " ")
        return int(text.split()[1])
