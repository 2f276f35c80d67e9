// ring-builder completion: prints the script that a shell loads to complete commands, options,
// rings and devices.
import type { Command } from '../cli/command.ts';
import { scripts, shells } from './scripts.ts';

export const command: Command = {
  positionals: { shell: { choices: shells, describe: 'shell to complete for' } },
  about: `To install it, once (ring-builder must be found in PATH):
  bash: echo 'source <(ring-builder completion bash)' >> ~/.bashrc
  zsh:  echo 'source <(ring-builder completion zsh)' >> ~/.zshrc
  fish: ring-builder completion fish > ~/.config/fish/completions/ring-builder.fish
From a checkout: export PATH="$PWD/node_modules/.bin:$PATH"`,
  examples: [
    ['$0 completion bash', 'print a script; its first lines say how to install it'],
    ['source <($0 completion bash)', 'for this shell only'],
  ],
  run: (args) => {
    const shell = args.chosen('shell', shells);
    const script = scripts[shell];
    return Promise.resolve({ json: { shell, script }, lines: script.split('\n') });
  },
};
