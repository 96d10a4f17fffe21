/** What lies on a node. */

/** One PREFIX-*.pem in a certificate directory. The key itself is never kept. */
export interface PairFile {
  name: string
  kind: 'file' | 'symlink' | 'directory' | 'other'
  mode: number
  size: number
  /** Where a symlink leads. */
  target?: string
  /** The file, or where its link leads, cannot be read: the error's code, e.g. ENOENT. */
  unreadable?: string
  /** Certificates in PEM, leaf first. */
  certificates?: string
  hasKey?: boolean
  /** Absent where there is no certificate, no key, or one that cannot be read. */
  keyMatches?: boolean
}

export interface CertDirectory {
  path: string
  files: PairFile[]
}

export interface KubeconfigFile {
  path: string
  /** Why it cannot be used: missing file, or the sentence of KUBECONFIG_INVALID. */
  problem?: string
  missing?: boolean
  server?: string
  /** PEM. */
  certificateAuthority?: string
  credential?: 'certificate' | 'token' | 'exec' | 'none'
  /** client-certificate where it is a file; absent where it is embedded. */
  certificateFile?: string
  /** Files it names that are not there. */
  missingFiles?: string[]
  /** The client certificate it leads to, in PEM. */
  certificate?: string
}

/** What a KubeletConfiguration says about certificates; with the kubelet's defaults where it says nothing. */
export interface KubeletConfigFacts {
  path: string
  rotateCertificates: boolean
  serverTLSBootstrap: boolean
  tlsCertFile?: string
  /** authentication.x509.clientCAFile, by which it trusts the API server's client certificate. */
  clientCaFile?: { path: string /** PEM; absent: it cannot be read. */; certificates?: string }
}

/** What cluster-info tells about the bootstrap token of a node, without the token. */
export interface TokenProof {
  tokenId: string
  /** Whether a token of this id signed it. */
  signed: boolean
  /** Whether it did so with the secret part that the node has. */
  secretFits: boolean
}

/** The files by which a signer on this node signs. */
export interface SigningFiles {
  certificate: string
  key: string
  /** PEM. */
  certificates: string
  /** Absent: there is no key, or no certificate. */
  keyMatches?: boolean
}

export interface NodeName {
  name: string
  /** Where it comes from. */
  source: string
}

export interface DiskSpace {
  path: string
  freeBytes: number
  /** Inodes. */
  freeFiles: number
  readOnly: boolean
}

/** What the API answered to the bootstrap credential. */
export interface BootstrapAttempt {
  server: string
  /** The HTTP status; 0: no answer. */
  status: number
  message: string
}

/** The pins that a node joins by, in lower-case hexadecimal, and the CAs (PEM) that cluster-info tells anybody. */
export interface JoinPins {
  server: string
  pins: string[]
  certificateAuthority: string
}

/** The exec plugin of a kubeconfig on the node, after it was run. */
export interface ExecPlugin {
  /** Of the kubeconfig. */
  path: string
  command: string
  failure?: string
}

export interface NodeArtifacts {
  certDirectory: CertDirectory
  kubeconfig: KubeconfigFile
  bootstrapKubeconfig: KubeconfigFile
  bootstrapAttempt: BootstrapAttempt
  kubeletConfig: KubeletConfigFacts
  tokenProof: TokenProof
  signingFiles: SigningFiles
  nodeName: NodeName
  diskSpace: DiskSpace
  joinPins: JoinPins
  execPlugins: ExecPlugin[]
}

export const nodeArtifactNames = [
  'certDirectory',
  'kubeconfig',
  'bootstrapKubeconfig',
  'bootstrapAttempt',
  'kubeletConfig',
  'tokenProof',
  'signingFiles',
  'nodeName',
  'diskSpace',
  'joinPins',
  'execPlugins',
] as const satisfies readonly (keyof NodeArtifacts)[]
