import { k8s, type ReportSection } from './report-section.ts'

export const requestsAndApproval: ReportSection = {
  title: 'Requests and approval',
  reports: [
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
  ],
  untracked: [
    {
      title: 'AWS re:Post, Kubelet Server Certificate Untaint',
      seen: 'pods start a minute before the serving certificate is there',
      ids: ['G11'],
    },
  ],
  heldElsewhere: [
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
  ],
}
