/** Public reports of certificates that failed nodes, and the diagnoses that catch them: docs/reference/field-reports.md. */

import type { Check } from './check.ts'

export interface FieldReport {
  /** `owner/repository#number`; several of the same fault. */
  reports: readonly string[]
  /** What was seen. */
  seen: string
  /** Ids of the diagnoses that find it, beside those of the checks that name one of the reports themselves. */
  ids: readonly [string, ...string[]]
}

const k8s = (...numbers: [number, ...number[]]) => numbers.map(number => `kubernetes/kubernetes#${number}`)

export const fieldReports: readonly FieldReport[] = [
  { reports: k8s(68686, 58930), seen: 'static pods wait until the node has its certificate', ids: ['A19'] },
  {
    reports: ['kubernetes/kubeadm#173', 'kubernetes-retired/bootkube#168'],
    seen: 'the same with a control plane of static pods',
    ids: ['A19'],
  },
  {
    reports: k8s(65991),
    seen: 'nodes that were off for longer than their certificate do not come back, with and without a token',
    ids: ['A01', 'A10', 'E11'],
  },
  { reports: k8s(96256, 78758), seen: '"expired, but the server is not responsive", for ever', ids: ['E11'] },
  { reports: k8s(115648), seen: 'no rotation for a day after the clock was set', ids: ['E18'] },
  {
    reports: [
      ...k8s(76714),
      'docker/for-win#2913',
      'kubernetes-sigs/cluster-api-provider-vsphere#503',
      'kubernetes-retired/cluster-api-bootstrap-provider-kubeadm#158',
    ],
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
      'kubernetes/kubeadm#1819',
      'kubernetes/kubernetes#58188',
      'kubernetes/website#15292',
      'kubernetes/kubernetes#99645',
      'kubernetes/kubernetes#62152',
      'openshift/origin#19857',
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
    reports: [...k8s(102283), 'rancher/rancher#25125'],
    seen: 'the CA was made anew: every node is Unauthorized',
    ids: ['D11', 'E14', 'I02'],
  },
  {
    reports: ['scality/metalk8s#2937'],
    seen: 'configuration management and kubelet both write the credential',
    ids: ['E05', 'E10'],
  },
  {
    reports: ['deckhouse/deckhouse#8245', 'mmontes11/k8s-bootstrap#26'],
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
  {
    reports: [...k8s(47695, 54482, 48687), 'kubernetes/cloud-provider-alibaba-cloud#6'],
    seen: 'node A cannot modify node B',
    ids: ['B02', 'B03'],
  },
  {
    reports: ['openshift/microshift#1449', 'canonical/microk8s#3270', 'apprenda/kismatic#845'],
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
    reports: k8s(130001, 130362, 125813, 121028, 125337, 120720),
    seen: 'a serving request is never made, or too early, since the Node has no address yet',
    ids: ['B10'],
  },
  { reports: k8s(65594), seen: 'the addresses of a node change while it runs', ids: ['G06'] },
  {
    reports: [
      'openshift/cluster-machine-approver#310',
      'openshift/cluster-machine-approver#31',
      'openshift/cluster-machine-approver#33',
      'openshift/cluster-machine-approver#43',
      'openshift/cluster-machine-approver#152',
    ],
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
    reports: [
      'postfinance/kubelet-csr-approver#29',
      'postfinance/kubelet-csr-approver#171',
      'postfinance/kubelet-csr-approver#181',
      'postfinance/kubelet-csr-approver#198',
    ],
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
      'alex1989hu/kubelet-serving-cert-approver#348',
      'kubernetes/kubernetes#50635',
      'kubernetes/kubernetes#133975',
      'kubernetes/enhancements#4911',
    ],
    seen: 'a certificate for the name of another node or of the API',
    ids: ['C16', 'G12', 'Z08'],
  },
  {
    reports: [
      'crc-org/snc#611',
      'crc-org/snc#631',
      'openshift/openshift-azure#1827',
      'Qubinode/qubinode-installer#228',
    ],
    seen: 'an image is frozen while its serving request waits',
    ids: ['C04'],
  },
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
  {
    reports: [...k8s(101965, 92678), 'kubernetes/website#26496'],
    seen: 'certificates live shorter, or longer, than somebody thought',
    ids: ['D08', 'E19'],
  },
  {
    reports: [
      'openshift/cluster-kube-apiserver-operator#1872',
      'openshift/cluster-kube-apiserver-operator#1537',
    ],
    seen: 'after a year off the credential that could approve has ended too',
    ids: ['A20', 'Z05'],
  },
  {
    reports: [
      'kubernetes/kubeadm#591',
      'networkservicemesh/networkservicemesh#1143',
      'kube-hetzner/terraform-hcloud-kube-hetzner#920',
      'opsnull/follow-me-install-kubernetes-cluster#365',
      'kelseyhightower/kubernetes-the-hard-way#441',
    ],
    seen: 'logs and exec end with "tls: internal error"',
    ids: ['G01'],
  },
  {
    reports: [
      ...k8s(59372, 50371, 17174, 72790),
      'kelseyhightower/kubernetes-the-hard-way#146',
      'kelseyhightower/kubernetes-the-hard-way#159',
    ],
    seen: 'the serving certificate is for another name than the one dialled',
    ids: ['G04', 'G05'],
  },
  {
    reports: ['okd-project/okd#1640', 'openshift/machine-config-operator#965'],
    seen: "the kubelet does not know the CA of the API server's client certificate",
    ids: ['G08'],
  },
  { reports: k8s(53027), seen: 'old pairs are never removed', ids: ['E08'] },
  {
    reports: ['okd-project/okd#1881', 'clastix/kamaji#315', 'clastix/kamaji#240', 'kubernetes/kubeadm#2027'],
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
    reports: ['alauda/knowledge#154'],
    seen: 'certificates ended, and what asks for new ones is approved and never signed',
    ids: ['D01', 'E11'],
  },
  {
    reports: [
      'rancher/rke2#8318',
      'okd-project/okd#499',
      'openshift/cluster-kube-apiserver-operator#988',
      'okd-project/okd#2242',
    ],
    seen: 'the whole cluster was off for longer than its certificates live',
    ids: ['A20', 'E11'],
  },
  {
    reports: [
      'canonical/microk8s#2489',
      'canonical/microk8s#5290',
      'canonical/microk8s#4852',
      'canonical/microk8s#1150',
      'canonical/microk8s#2317',
      'canonical/microk8s#5576',
      'canonical/microk8s#5590',
      'canonical/microk8s#4561',
    ],
    seen: 'a year without rotation; renewed on one node of several; without the addresses of before; a CA of 30 days',
    ids: ['E11', 'E17', 'G04', 'I11'],
  },
  {
    reports: ['okd-project/okd#1629'],
    seen: 'approving is Forbidden with the kubeconfig at hand',
    ids: ['C14', 'Z04'],
  },
  {
    reports: ['kontena/kubelet-rubber-stamp#10'],
    seen: 'an approver that was given the wrong rights',
    ids: ['C14'],
  },
  {
    reports: ['openshift/cluster-machine-approver#42'],
    seen: 'requests that were there before the approver started are ignored',
    ids: ['C04'],
  },
  {
    reports: [
      'openshift/openshift-docs#14891',
      'openshift/openshift-docs#34975',
      'openshift/openshift-docs#86600',
      'openshift/openshift-docs#117169',
    ],
    seen: 'requests come again after they were approved: the serving ones come second, given up ones are made anew',
    ids: ['C04', 'C11'],
  },
  {
    reports: ['awslabs/eks-perf-tests#189'],
    seen: 'dozens of requests of nodes that are gone',
    ids: ['C10'],
  },
  {
    reports: k8s(114588, 115315),
    seen: '401 for logs alone, after the client certificate of the API server was renewed',
    ids: ['G09'],
  },
  {
    reports: [...k8s(120621, 49899), 'kubernetes/kops#16850'],
    seen: '401 after a renewal, on connections that were opened before it',
    ids: ['E16'],
  },
  {
    reports: [
      'openshift/machine-config-operator#2802',
      'openshift/runbooks#44',
      'openshift/openshift-docs#45313',
      'openshift/openshift-docs#34704',
    ],
    seen: 'a paused pool keeps the new CA from its machines',
    ids: ['I08'],
  },
  {
    reports: ['rancher/rancher#25858', 'RafPe/pod-certificate-signer#110'],
    seen: 'a program keeps the CA of before in memory; it takes minutes until a pod has the new one',
    ids: ['I04'],
  },
  {
    reports: ['Azure/AKS#1455', 'Azure/AKS#2347'],
    seen: 'a rotation of all certificates was left half-way, with nodes behind',
    ids: ['I07', 'I16'],
  },
  {
    reports: ['kubernetes/website#19351', 'kubernetes/website#26188'],
    seen: 'which file belongs to which flag when CAs are changed by hand',
    ids: ['I12', 'I13', 'I17'],
  },
  {
    reports: ['kubernetes/kops#12032'],
    seen: "administrators' kubeconfigs are of the CA that is about to go",
    ids: ['I18'],
  },
]

/** Reports that are no issue with a number. */
export const otherReports: readonly { title: string; seen: string; ids: readonly [string, ...string[]] }[] = [
  {
    title: 'AWS re:Post, Kubelet Server Certificate Untaint',
    seen: 'pods start a minute before the serving certificate is there',
    ids: ['G11'],
  },
  {
    title: 'GKE, credential rotation',
    seen: 'the provider rotates by itself when the CA is about to end, and nodes are made anew',
    ids: ['I11'],
  },
]

/** Reports that no diagnosis finds, since the part of Rollcall that they are about has no such fault: held by a test. */
export const heldElsewhere: readonly { reports: readonly string[]; seen: string; by: string }[] = [
  {
    reports: ['postfinance/kubelet-csr-approver#28'],
    seen: 'names are to be proven by ranges of addresses',
    by: 'src/approve/cases/f-ip-sans.test.ts',
  },
  {
    reports: ['postfinance/kubelet-csr-approver#10'],
    seen: 'a request may ask for any life',
    by: 'src/approve/policy-terms.test.ts',
  },
  {
    reports: ['postfinance/kubelet-csr-approver#273'],
    seen: 'a prefix with a typing error keeps the approver from starting',
    by: 'src/approve/policy-document.test.ts',
  },
  {
    reports: ['gardener/gardener#10876'],
    seen: 'two texts of one IPv6 address are taken for two',
    by: 'src/approve/cases/f-ip-sans.test.ts',
  },
  {
    reports: ['k3s-io/k3s#9785', 'k3s-io/k3s#9900', 'k3s-io/k3s#9901'],
    seen: 'the command that rotates fails on a node that is no server',
    by: 'test/renew.test.ts',
  },
  {
    reports: ['k3s-io/k3s#11233', 'k3s-io/k3s#7082', 'k3s-io/k3s#7083'],
    seen: 'the CA cannot be changed once the first server is gone',
    by: 'src/rollover/model-check.test.ts',
  },
  {
    reports: ['openshift/cluster-kube-controller-manager-operator#132'],
    seen: 'nothing but the end of its certificate makes a node renew it',
    by: 'test/renew.test.ts',
  },
  {
    reports: ['kubernetes/kubernetes#91148'],
    seen: 'a metric of certificates never worked',
    by: 'test/prometheus.test.ts',
  },
  {
    reports: [
      'prometheus-operator/prometheus-operator#1843',
      'prometheus-operator/kube-prometheus#881',
      'kubevirt/kubevirt#13548',
      'AndreiGavriliu/homelab#6637',
    ],
    seen: 'an alert fires all the time for certificates that live short, and names nobody',
    by: 'test/alerts.test.ts',
  },
]

/** The row's own ids, and those of the checks that name one of its reports, in their order. */
export function idsOf({ ids, reports }: FieldReport, checks: readonly Check[]): string[] {
  const naming = checks.filter(({ meta }) => meta.reports?.some(report => reports.includes(report)))
  return [...new Set([...ids, ...naming.map(({ meta }) => meta.id)])].sort()
}

/** The page, Markdown. */
export function fieldReportsPage(checks: readonly Check[]): string {
  const linkedIds = (ids: readonly string[]) => ids.map(id => `[${id}](doctor/${id}.md)`).join(', ')
  const rows = fieldReports.map(
    row => `| ${row.reports.map(linked).join(', ')} | ${row.seen} | ${linkedIds(idsOf(row, checks))} |`,
  )
  const others = otherReports.map(({ title, seen, ids }) => `| ${title} | ${seen} | ${linkedIds(ids)} |`)
  const elsewhere = heldElsewhere.map(
    ({ reports, seen, by }) => `| ${reports.map(linked).join(', ')} | ${seen} | \`${by}\` |`,
  )
  return `<!-- Made from src/doctor/field-reports.ts by scripts/field-reports-page.ts; change it there. -->
# What happened to others, and what finds it

Public reports of node certificates that failed. Each diagnosis has a test that makes its fault and finds this id.

| report | what was seen | found by |
|---|---|---|
${[...rows, ...others].join('\n')}

## Held by another part
Reports that are about the tool itself, not about a cluster: no diagnosis finds them, and a test holds that Rollcall has no
such fault.

| report | what was seen | held by |
|---|---|---|
${elsewhere.join('\n')}
`
}

function linked(report: string): string {
  const [repository = '', number = ''] = report.split('#')
  return `[${report}](https://github.com/${repository}/issues/${number})`
}
