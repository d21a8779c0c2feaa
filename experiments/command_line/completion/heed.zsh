#compdef heed
# Completion of heed for zsh. In one line of ~/.zshrc, after compinit:  source <(heed completion zsh)
# `heed complete` knows the words. This script only asks it and hands its answer to the shell.
_heed() {
  local program=${words[1]/#\~\//$HOME/} paths
  local -a answer closed open
  whence -p -- $program >/dev/null || return 1
  answer=("${(@f)$("$program" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  paths=$answer[1]
  answer=("${(@)answer[2,-1]}")
  closed=("${(@)answer:#*[=.]}")
  open=("${(@M)answer:#*[=.]}")
  # After a word that ends in '=' or '.', more follows without a space.
  # -U: the words need not begin with what is typed, as train.clip= for clip.
  (( ! $#open )) || compadd -U -S '' -a open
  (( ! $#closed )) || compadd -U -a closed
  [[ $paths == none ]] || { [[ $PREFIX != *=* ]] || compset -P '*=' }
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
# As a file in $fpath, this script is the function's body. Otherwise it registers the function.
if [[ $funcstack[1] == _heed ]]; then _heed "$@"; else compdef _heed heed; fi
