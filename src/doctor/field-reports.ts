/** Public reports of certificates that failed nodes, and the diagnoses that catch them: docs/reference/field-reports.md. */

import type { Check } from './check.ts'

export interface FieldReport {
  /** `owner/repository#number`; several of the same fault. */
  reports: readonly [string, ...string[]]
  /** What was seen. */
  seen: string
  /** Ids of the diagnoses that find it, beside those of the checks that name one of the reports themselves. */
  ids: readonly [string, ...string[]]
}

const k8s = (...numbers: [number, ...number[]]) =>
  numbers.map(number => `kubernetes/kubernetes#${number}`) as [string, ...string[]]

export const fieldReports: readonly FieldReport[] = [
  { reports: k8s(68686, 58930), seen: 'static pods wait until the node has its certificate', ids: ['A19'] },
  { reports: ['kubernetes/kubeadm#173'], seen: 'the same with a control plane of static pods', ids: ['A19'] },
  {
    reports: k8s(65991),
    seen: 'nodes that were off for longer than their certificate do not come back, with and without a token',
    ids: ['A01', 'A10', 'E11'],
  },
  { reports: k8s(96256, 78758), seen: '"expired, but the server is not responsive", for ever', ids: ['E11'] },
  { reports: k8s(115648), seen: 'no rotation for a day after the clock was set', ids: ['E18'] },
  {
    reports: k8s(76714),
    seen: '"certificate is not valid yet" after the clock was corrected',
    ids: ['E12', 'E13'],
  },
  {
    reports: ['aws/eks-anywhere#9040', 'k3s-io/k3s#5163'],
    seen: 'a clock that was wrong at boot',
    ids: ['E12', 'E13'],
  },
  { reports: ['deckhouse/deckhouse#12232'], seen: 'clocks hours apart', ids: ['E13'] },
  { reports: k8s(53288), seen: 'the certificate directory was empty after a reboot', ids: ['A18', 'E21'] },
  { reports: k8s(34956), seen: 'all pairs were empty files after a power loss', ids: ['E04'] },
  {
    reports: ['kubernetes/website#28312', 'kubernetes/kubeadm#2502'],
    seen: 'current.pem was a file and no link',
    ids: ['E02'],
  },
  {
    reports: [
      'kubernetes/kubernetes#71825',
      'kubernetes/kubeadm#1317',
      'kubernetes/kubeadm#1753',
      'kubernetes/kubernetes#99645',
      'kubernetes/kubernetes#62152',
    ],
    seen: 'kubelet.conf embeds the first certificate, the rotated pair is ignored',
    ids: ['E09'],
  },
  {
    reports: ['kubernetes/kubeadm#2054', 'kubernetes/kubernetes#107489', 'kubernetes/kubernetes#102556'],
    seen: 'everything was renewed but the kubelet, which has no bootstrap kubeconfig any more',
    ids: ['A10'],
  },
  {
    reports: k8s(102283),
    seen: 'the CA was made anew: every node is Unauthorized',
    ids: ['D11', 'E14', 'I02'],
  },
  {
    reports: ['scality/metalk8s#2937'],
    seen: 'configuration management and kubelet both write the credential',
    ids: ['E05', 'E10'],
  },
  {
    reports: ['deckhouse/deckhouse#8245'],
    seen: 'the client certificate is not rotated, the serving certificate is',
    ids: ['E17'],
  },
  {
    reports: ['rancher/rke#2566', 'rancher/rancher#27783'],
    seen: '"rotate certificates" says success, the self-signed serving certificate stays',
    ids: ['B11', 'G07'],
  },
  {
    reports: ['kubernetes/kubernetes#51509', 'mmumshad/kubernetes-the-hard-way#122'],
    seen: 'invalid bearer token, although the token is listed',
    ids: ['A02'],
  },
  {
    reports: [
      'opsnull/follow-me-install-kubernetes-cluster#448',
      'opsnull/follow-me-install-kubernetes-cluster#140',
    ],
    seen: 'the bootstrap user may not create requests',
    ids: ['B01'],
  },
  {
    reports: k8s(61345),
    seen: '"recognized csr … but subject access review was not approved", nothing in the API',
    ids: ['C01'],
  },
  {
    reports: ['opsnull/follow-me-install-kubernetes-cluster#228'],
    seen: 'roles for approval are bound to another group',
    ids: ['C01', 'C02'],
  },
  { reports: k8s(47695, 54482, 48687), seen: 'node A cannot modify node B', ids: ['B02', 'B03'] },
  {
    reports: ['openshift/microshift#1449', 'canonical/microk8s#3270'],
    seen: 'a host name in upper case',
    ids: ['B04'],
  },
  {
    reports: ['kelseyhightower/kubernetes-the-hard-way#228'],
    seen: 'a certificate for `system:node:` without a name',
    ids: ['B05'],
  },
  {
    reports: ['awslabs/amazon-eks-ami#610'],
    seen: 'serving requests come from a user that is no node',
    ids: ['C08'],
  },
  {
    reports: k8s(51966),
    seen: 'requests pile up, one for each time that the kubelet waits',
    ids: ['B14', 'C04', 'C11'],
  },
  { reports: k8s(132947), seen: '520,858 approved requests that nobody signs', ids: ['B13', 'D01'] },
  {
    reports: k8s(130001, 125813),
    seen: 'a serving request is never made, or too early, since the Node has no address yet',
    ids: ['B10'],
  },
  { reports: k8s(65594), seen: 'the addresses of a node change while it runs', ids: ['G06'] },
  {
    reports: ['openshift/cluster-machine-approver#310', 'openshift/cluster-machine-approver#31'],
    seen: 'abandoned requests stop the approver for everybody',
    ids: ['B14', 'C11', 'C15'],
  },
  {
    reports: ['openshift/cluster-machine-approver#40'],
    seen: 'a request is forgotten since its node was not there yet',
    ids: ['C10'],
  },
  {
    reports: ['alex1989hu/kubelet-serving-cert-approver#93'],
    seen: 'some requests are never approved; a node changes its name',
    ids: ['B02', 'C04'],
  },
  {
    reports: ['postfinance/kubelet-csr-approver#29', 'postfinance/kubelet-csr-approver#171'],
    seen: 'node names that are not in DNS are denied',
    ids: ['C06'],
  },
  {
    reports: ['postfinance/kubelet-csr-approver#253', 'postfinance/kubelet-csr-approver#70'],
    seen: "an approver's own rule denies what is right",
    ids: ['C09'],
  },
  {
    reports: [
      'siderolabs/talos-cloud-controller-manager#360',
      'alex1989hu/kubelet-serving-cert-approver#337',
      'kubernetes/kubernetes#50635',
    ],
    seen: 'a certificate for the name of another node or of the API',
    ids: ['C16', 'G12', 'Z08'],
  },
  { reports: ['crc-org/snc#611'], seen: 'an image is frozen while its serving request waits', ids: ['C04'] },
  {
    reports: ['kubernetes/website#24405'],
    seen: 'Approved,Failed: the signer refuses the subject',
    ids: ['D06'],
  },
  {
    reports: ['aws/containers-roadmap#1604'],
    seen: 'approved, and the provider does not sign',
    ids: ['D09'],
  },
  { reports: k8s(101965), seen: 'certificates live shorter than was asked for', ids: ['D08'] },
  {
    reports: ['openshift/cluster-kube-apiserver-operator#1872'],
    seen: 'after a year off the credential that could approve has ended too',
    ids: ['A20', 'Z05'],
  },
  {
    reports: ['kubernetes/kubeadm#591', 'networkservicemesh/networkservicemesh#1143'],
    seen: 'logs and exec end with "tls: internal error"',
    ids: ['G01'],
  },
  {
    reports: k8s(59372, 50371),
    seen: 'the serving certificate is for another name than the one dialled',
    ids: ['G05'],
  },
  {
    reports: ['okd-project/okd#1640', 'openshift/machine-config-operator#965'],
    seen: "the kubelet does not know the CA of the API server's client certificate",
    ids: ['G08'],
  },
  { reports: k8s(53027), seen: 'old pairs are never removed', ids: ['E08'] },
  {
    reports: ['okd-project/okd#1881', 'clastix/kamaji#315', 'kubernetes/kubeadm#2027'],
    seen: 'kubeconfigs and join data keep the CA of before',
    ids: ['A11', 'I02', 'I05'],
  },
  {
    reports: ['openshift/machine-config-operator#5828'],
    seen: 'the API serves with a CA that clients do not hold in memory',
    ids: ['I01'],
  },
  {
    reports: ['gardener/gardener#15301', 'gardener/gardener#15430'],
    seen: 'namespaces do not have the new kube-root-ca.crt yet',
    ids: ['I03'],
  },
  {
    reports: ['kubernetes/kops#12032'],
    seen: "administrators' kubeconfigs are of the CA that is about to go",
    ids: ['I18'],
  },
]

/** The row's own ids, and those of the checks that name one of its reports, in their order. */
export function idsOf({ ids, reports }: FieldReport, checks: readonly Check[]): string[] {
  const naming = checks.filter(({ meta }) => meta.reports?.some(report => reports.includes(report)))
  return [...new Set([...ids, ...naming.map(({ meta }) => meta.id)])].sort()
}

/** The page, Markdown. */
export function fieldReportsPage(checks: readonly Check[]): string {
  const rows = fieldReports.map(row => {
    const ids = idsOf(row, checks).map(id => `[${id}](doctor/${id}.md)`)
    return `| ${row.reports.map(linked).join(', ')} | ${row.seen} | ${ids.join(', ')} |`
  })
  return `<!-- Made from src/doctor/field-reports.ts by scripts/field-reports-page.ts; change it there. -->
# What happened to others, and what finds it

Public reports of node certificates that failed. Each diagnosis has a test that makes its fault and finds this id.

| report | what was seen | found by |
|---|---|---|
${rows.join('\n')}
`
}

function linked(report: string): string {
  const [repository = '', number = ''] = report.split('#')
  return `[${report}](https://github.com/${repository}/issues/${number})`
}
