# SPDX-License-Identifier: MIT
# Completion of `anybinder` for fish. Commands and options are those of --help; names are
# asked for with `anybinder ls`.

# NAME, a tab and what it does, of the commands or of the benchmarks.
function __anybinder_commands
    if test "$argv[1]" = bench
        anybinder bench --help 2>/dev/null | string replace -rf '^  ([a-z]{2,})\s+(\S.*)' '$1\t$2'
    else
        anybinder --help 2>/dev/null | string match -v '  bench *' |
            string replace -rf '^  ([a-z]{2,})\s+(\S.*)' '$1\t$2'
        printf 'bench\tmeasure calls\n'
    end
end

# Options of a command that is given as words.
function __anybinder_options
    anybinder $argv --help 2>/dev/null |
        string replace -rf '^ +(?:-[a-z], )?(--[a-z][a-z-]*=?).*' '$1' | sort -u
end

function __anybinder_names
    set -l device (string match -- '--device=*' $argv)
    anybinder ls $device[-1] 2>/dev/null
end

function __anybinder_rest
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    switch "$words[2]"
        case bench
            if test (count $words) = 2
                __anybinder_commands bench
            else
                __anybinder_options bench $words[3]
            end
        case ping call dump wait
            if string match -q -- '-*' $current
                __anybinder_options $words[2]
            else
                __anybinder_names $words
            end
        case '*'
            __anybinder_options $words[2]
    end
end

complete -c anybinder -f
complete -c anybinder -n 'test (count (commandline -opc)) = 1' -a '(__anybinder_commands)'
complete -c anybinder -n 'test (count (commandline -opc)) = 1' -l version -l help
complete -c anybinder -n 'test (count (commandline -opc)) -gt 1' -a '(__anybinder_rest)'
