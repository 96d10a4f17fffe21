/** Programs that tests drive, and the Debian 12 package that brings each. */
export const debianPackages = [
  { program: 'openssl', package: 'openssl' },
  { program: 'git', package: 'git' },
]

/** Where set-up unpacks Debian's kubectl 1.20, below the repository. */
export const oldKubectlFolder = '.cache/kubectl-1.20'
