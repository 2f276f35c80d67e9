// The scripts that make shells ask ring-builder for completions. Pure.

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The first word of a script's call; the shell and the words up to the cursor follow. */
export const completionWord = '--complete';

/** Where ring-builder finds nothing, the shell completes file names. */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of ring-builder for bash. In ~/.bashrc:
#   source <(ring-builder completion bash)
_ring_builder() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [ -n "$line" ] && COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" ${completionWord} bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _ring_builder ring-builder`,
  zsh: `#compdef ring-builder
# Completion of ring-builder for zsh. In ~/.zshrc, after compinit:
#   source <(ring-builder completion zsh)
_ring_builder() {
  local -a found
  found=("\${(@f)$("\${words[1]}" ${completionWord} zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} )); then
    _describe 'ring-builder' found
  else
    _files
  fi
}
compdef _ring_builder ring-builder`,
  fish: `# Completion of ring-builder for fish:
#   ring-builder completion fish > ~/.config/fish/completions/ring-builder.fish
function __ring_builder_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l found ($program ${completionWord} fish $words (commandline -ct) 2>/dev/null \\
    | string match -v '')
  if test (count $found) -gt 0
    printf '%s\\n' $found | string replace ':' \\t
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ring-builder -f -a '(__ring_builder_complete)'`,
};
