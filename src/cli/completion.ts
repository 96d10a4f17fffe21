import { Argument, type Command } from 'commander'
import type { CommandIo } from './command-io.ts'

/** Each asks the program itself for the words, so a script stays right when the program is updated. */
const scripts = {
  bash: `# rollcall completion for bash. Load it: source <(rollcall completion bash)
_rollcall() {
  local IFS=$'\\n'
  COMPREPLY=($(rollcall complete-words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _rollcall rollcall
`,
  zsh: `#compdef rollcall
# rollcall completion for zsh. Load it: source <(rollcall completion zsh)
_rollcall() {
  local -a found
  found=(\${(f)"$(rollcall complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\\\:/g' -e 's/\\t/:/')"})
  if (( \${#found} )); then _describe rollcall found; else _files; fi
}
compdef _rollcall rollcall
`,
  fish: `# rollcall completion for fish. Load it: rollcall completion fish | source
complete -c rollcall -f -a '(rollcall complete-words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
} as const

type Shell = keyof typeof scripts

export function register(program: Command, io: CommandIo): void {
  program
    .command('completion')
    .description('print the script that completes rollcall’s commands and options in a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .action((shell: Shell) => io.stdout(scripts[shell]))
}
