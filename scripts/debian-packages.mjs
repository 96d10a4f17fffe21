/** Programs that tests drive, and the Debian 12 package that brings each; `service`: one that it starts and nobody needs. */
export const debianPackages = [
  { program: 'openssl', package: 'openssl' },
  { program: 'git', package: 'git' },
  { program: 'promtool', package: 'prometheus', service: 'prometheus' },
]

/** Where set-up unpacks Debian's kubectl 1.20, below the repository. */
export const oldKubectlFolder = '.cache/kubectl-1.20'
