import { shellWord } from '../../survey/explanation.ts'
import { certificateSignatureIsValid } from '../../x509/certificate.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { currentPair, leafOf } from '../pair-files.ts'

export const g08: Check = {
  meta: {
    id: 'G08',
    severity: 'critical',
    title: 'The kubelet trusts the CA of those who call it',
    failureTitle: 'The kubelet does not trust the CA of those who call it',
    symptom: 'Logs, exec and scrapes end with 401; the kubelet logs "Unable to authenticate the request".',
    description:
      "The kubelet takes client certificates by authentication.x509.clientCAFile. The file is not there, holds no CA in force, or lacks the CA that issued the node's own newest certificate: a new CA was not brought to this node, e.g. since its pool is paused.",
    remedy: 'Put the present CA bundle into the file; the kubelet reads it again by itself.',
    reports: ['okd-project/okd#1640', 'openshift/machine-config-operator#965'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeletConfig', 'certDirectory'],
      audit({ kubeletConfig: { path, clientCaFile }, certDirectory }, now) {
        if (!clientCaFile) return []
        const { certificates: cas } = readBundle(clientCaFile.certificates ?? '')
        const inForce = cas.filter(({ notBefore, notAfter }) => notBefore <= now && now <= notAfter)
        const own = leafOf(currentPair(certDirectory, 'client'))
        const missing = own && !inForce.some(ca => certificateSignatureIsValid(own, ca))
        if (inForce.length > 0 && !missing) return []
        return [
          {
            object: clientCaFile.path,
            evidence: [
              {
                value:
                  clientCaFile.certificates === undefined
                    ? 'cannot be read'
                    : cas.map(describe).join('; ') || 'no certificate',
                source: `${clientCaFile.path}, named in ${path}`,
              },
              ...(own && missing
                ? [{ value: `${describe(own)} is of another CA`, source: certDirectory.path }]
                : []),
            ],
            cause:
              inForce.length === 0
                ? 'The file holds no CA that is in force.'
                : 'The file was not brought up to date when the CA was changed.',
            fix: [
              {
                run: `kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath='{.data.client-ca-file}' > ${shellWord(clientCaFile.path)}`,
                purpose: 'on the node, with a kubeconfig of an administrator',
              },
              restartKubelet,
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
