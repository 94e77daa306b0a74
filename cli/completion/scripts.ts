export type Shell = 'bash' | 'zsh' | 'fish';

/**
 * The completion script of each shell. It asks the program for candidates, so it need not be installed again after an
 * upgrade. Without candidates, shells complete file names.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_valetkey() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _valetkey valetkey`,
  zsh: `#compdef valetkey
_valetkey() {
  local -a candidates
  candidates=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=("\${(@)candidates:#}")
  if (( \${#candidates} == 0 )); then
    _files
    return
  fi
  candidates=("\${(@)candidates//:/\\\\:}")
  candidates=("\${(@)candidates/$'\\t'/:}")
  _describe valetkey "candidates" || true
}
(( \${+functions[compdef]} )) && compdef _valetkey valetkey`,
  fish: `function __valetkey_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l candidates (valetkey __complete $words (commandline -ct) 2>/dev/null)
    if test (count $candidates) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $candidates
    end
end
complete -c valetkey -f -a '(__valetkey_complete)'`,
};
