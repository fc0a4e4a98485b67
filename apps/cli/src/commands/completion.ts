import { Command } from 'commander';
import { print } from '../context.js';

/** Each asks `holdfast completion words` for what may come next: one word a line, and for zsh and fish its meaning after a tab. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_holdfast() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(holdfast completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _holdfast holdfast`,
  zsh: `#compdef holdfast
_holdfast() {
  local -a found
  found=(\${(f)"$(holdfast completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed 's/:/\\\\:/g; s/\\t/:/')"})
  _describe holdfast found
}
compdef _holdfast holdfast`,
  fish: `complete -c holdfast -f -a '(holdfast completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

/** @param complete completions at the end of these words */
export function completionCommand(
  complete: (words: readonly string[]) => Promise<readonly { word: string; meaning: string }[]>,
): Command {
  const completion = new Command('completion').description(
    'completion of commands, options and names: source <(holdfast completion bash)',
  );
  for (const [shell, script] of Object.entries(SCRIPTS))
    completion
      .command(shell)
      .description(`the script for ${shell}`)
      .action(() => print(script));
  completion
    .command('words', { hidden: true })
    .argument('[words...]')
    .description('completions at the end of these words')
    .action(async (words: string[]) => {
      for (const { word, meaning } of await complete(words)) print(`${word}\t${meaning}`);
    });
  return completion;
}
