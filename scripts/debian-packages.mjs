/**
 * Programs (or files) that tests drive, and the Debian 12 package that brings each; `service`: one that it starts and
 * nobody needs.
 */
export const debianPackages = [
  { program: 'openssl', package: 'openssl' },
  { program: 'git', package: 'git' },
  { program: 'promtool', package: 'prometheus', service: 'prometheus' },
  // Static pods on a real container runtime; busybox is what their images are made of.
  { program: 'containerd', package: 'containerd', service: 'containerd' },
  { program: 'runc', package: 'runc' },
  { program: 'busybox', package: 'busybox-static' },
  { file: '/usr/lib/cni/ptp', package: 'containernetworking-plugins' },
  // Keys in a token and in a TPM.
  { program: 'softhsm2-util', package: 'softhsm2' },
  { program: 'p11-kit', package: 'p11-kit' },
  { file: '/usr/lib/*/pkcs11/p11-kit-client.so', package: 'p11-kit-modules' },
  { file: '/usr/lib/*/engines-3/pkcs11.so', package: 'libengine-pkcs11-openssl' },
  { program: 'swtpm', package: 'swtpm' },
  { program: 'swtpm_setup', package: 'swtpm-tools' },
  { program: 'tpm2_createek', package: 'tpm2-tools' },
  { file: '/usr/lib/*/pkcs11/libtpm2_pkcs11.so', package: 'libtpm2-pkcs11-1' },
  { program: 'tpm2-abrmd', package: 'tpm2-abrmd', service: 'tpm2-abrmd' },
  { file: '/usr/lib/*/libtss2-tcti-tabrmd.so.0', package: 'libtss2-tcti-tabrmd0' },
  { program: 'dbus-daemon', package: 'dbus-daemon' },
  { program: 'dbus-send', package: 'dbus-bin' },
  // The dashboard in a real browser.
  { program: 'chromium', package: 'chromium' },
  { program: 'curl', package: 'curl' },
]

/** Where set-up unpacks Debian's kubectl 1.20, below the repository. */
export const oldKubectlFolder = '.cache/kubectl-1.20'
