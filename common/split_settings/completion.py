"""Completion scripts for bash, zsh and fish, made from an argparse parser.

The scripts are text that a user's shell runs: every word in them comes from a parser of ours. Names
that others chose (of models, of chats) are asked of the program when a key is pressed, and no shell
expands them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from split_settings.shells import Command, Flag, command_of

SHELLS = ("bash", "zsh", "fish")


def add_completion(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], names: tuple[str, ...] = ()
) -> None:
    """The command ``completion``; the shells' scripts call it for ``names``, and no help tells."""

    def known(text: str) -> str:
        if text not in (*SHELLS, *names):
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(SHELLS)}")
        return text

    parser = commands.add_parser("completion", help="print what completes commands in a shell")
    parser.add_argument("shell", type=known, metavar="{" + ",".join(SHELLS) + "}")


def name_lines(names: Iterable[str]) -> str:
    """Names for the scripts, one a line; those that no line can hold are left out."""
    return "".join(f"{name}\n" for name in dict.fromkeys(names) if name and name.isprintable())


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for ``shell``, one of SHELLS, that completes the program ``parser.prog``."""
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join(make(command_of(parser))) + "\n"


def _bash(program: Command) -> Iterator[str]:
    function = _function(program)
    names = "|".join(command.name for command in program.commands)
    yield f"# bash: source <({program.name} completion bash)"
    yield from _bash_names(program, function)
    yield f"{function}() {{"
    yield "    local IFS=$' \\t\\n' cur=${COMP_WORDS[COMP_CWORD]} prev= command= i"
    yield "    COMPREPLY=()"
    yield "    if ((COMP_CWORD > 0)); then prev=${COMP_WORDS[COMP_CWORD - 1]}; fi"
    # Bash splits --flag=value at the sign.
    yield "    if [[ $cur == = ]]; then cur="
    yield "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi"
    if names:
        yield "    for ((i = 1; i < COMP_CWORD; i++)); do"
        yield "        case ${COMP_WORDS[i]} in"
        yield f"            {names}) command=${{COMP_WORDS[i]}}; break ;;"
        yield "        esac"
        yield "    done"
    yield '    case "$command $prev" in'
    for command in _places(program):
        place = "" if command is program else command.name
        for flag in command.flags:
            if flag.value != "none":
                value = _bash_value(flag, function)
                yield f'        "{place} {flag.name}") {value} return ;;'
    yield "    esac"
    yield "    case $command in"
    for command in _places(program):
        place = "''" if command is program else command.name
        yield f"        {place}) {_bash_words(_offered(command))} ;;"
    yield "    esac"
    yield "}"
    yield f"complete -F {function} {program.name}"


def _bash_words(words: list[str]) -> str:
    return f"COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\"))"


def _bash_names(program: Command, function: str) -> Iterator[str]:
    """A function that completes names: quoted for the shell, never expanded by it."""
    if not any(flag.names for command in _places(program) for flag in command.flags):
        return
    yield f"{function}_names() {{"
    yield "    local name"
    yield "    while IFS= read -r name; do"
    yield '        printf -v name %q "$name"'
    yield '        if [[ $name == "$cur"* ]]; then COMPREPLY+=("$name"); fi'
    yield f'    done < <({program.name} completion "$1" 2>/dev/null)'
    yield "}"


def _bash_value(flag: Flag, function: str) -> str:
    if flag.names:
        return f"{function}_names {flag.names};"
    if flag.words:
        return _bash_words(list(flag.words)) + ";"
    kind = {"file": "-f", "folder": "-d"}.get(flag.value)
    if kind is None:
        return ""
    # Old versions of bash cannot be told that these are file names.
    names = f"IFS=$'\\n'; COMPREPLY=($(compgen {kind} -- \"$cur\"));"
    return f"{names} compopt -o filenames 2>/dev/null;"


def _zsh(program: Command) -> Iterator[str]:
    function = _function(program)
    yield f"#compdef {program.name}"
    yield f"# zsh: source <({program.name} completion zsh), after compinit"
    yield f"{function}() {{"
    if program.commands:
        yield "    if (( CURRENT == 2 )); then"
        yield "        local -a commands=("
        for command in program.commands:
            yield f"            {_quoted(f'{command.name}:{command.help}')}"
        yield "        )"
        yield "        _describe command commands"
        yield f"        {_zsh_arguments(program, program.name)}"
        yield "        return"
        yield "    fi"
        yield "    (( CURRENT-- ))"
        yield "    shift words"
        yield "    case $words[1] in"
        for command in program.commands:
            yield f"        {command.name}) {_zsh_arguments(command, program.name)} ;;"
        yield f"        *) {_zsh_arguments(program, program.name)} ;;"
        yield "    esac"
    else:
        yield f"    {_zsh_arguments(program, program.name)}"
    yield "}"
    yield f"compdef {function} {program.name}"


def _zsh_arguments(command: Command, program: str) -> str:
    parts = [_quoted(_zsh_flag(flag, program)) for flag in command.flags]
    if command.words:
        parts.append(_quoted(f"1:argument:({' '.join(command.words)})"))
    return " ".join(["_arguments -s", *parts])


def _zsh_flag(flag: Flag, program: str) -> str:
    text = flag.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    # A flag may be repeated wherever that is allowed; the program says where it is not.
    start = f"*{flag.name}[{text}]"
    if flag.value == "none":
        return start
    if flag.names:
        asked = f"$({program} completion {flag.names} 2>/dev/null)"
        return f'{start}:value:{{compadd -- "${{(@f){asked}}}"}}'
    if flag.words:
        return f"{start}:value:({' '.join(flag.words)})"
    action = {"file": "_files", "folder": "_files -/"}.get(flag.value, " ")
    return f"{start}:value:{action}"


def _fish(program: Command) -> Iterator[str]:
    yield f"# fish: {program.name} completion fish | source"
    yield f"complete -c {program.name} -f"
    for command in program.commands:
        yield (
            f"complete -c {program.name} -n __fish_use_subcommand -a {command.name} "
            f"-d {_fish_quoted(command.help)}"
        )
    for command in _places(program):
        place = f"complete -c {program.name}"
        if command is not program:
            place += f" -n '__fish_seen_subcommand_from {command.name}'"
        elif program.commands:
            place += " -n __fish_use_subcommand"
        for flag in command.flags:
            yield f"{place} {_fish_flag(flag, program.name)}"
        if command.words:
            yield f"{place} -a '{' '.join(command.words)}'"


def _fish_flag(flag: Flag, program: str) -> str:
    kind = "-l" if flag.name.startswith("--") else "-s"
    text = f"{kind} {flag.name.lstrip('-')} -d {_fish_quoted(flag.help)}"
    if flag.names:
        return f"{text} -x -a '({program} completion {flag.names} 2>/dev/null)'"
    if flag.words:
        return f"{text} -x -a '{' '.join(flag.words)}'"
    ending = {"none": "", "own": " -x", "file": " -r -F"}
    return text + ending.get(flag.value, " -x -a '(__fish_complete_directories)'")


def _places(program: Command) -> tuple[Command, ...]:
    return (program, *program.commands)


def _offered(command: Command) -> list[str]:
    inner = [inner.name for inner in command.commands]
    return [*inner, *command.words, *(flag.name for flag in command.flags)]


def _function(program: Command) -> str:
    return "_" + program.name.replace("-", "_")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
