import { k8s, type ReportSection } from './report-section.ts'

export const startAndReturn: ReportSection = {
  title: 'Start-up, bootstrap, return after expiry',
  reports: [
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
    {
      reports: k8s(96256, 78758),
      seen: '"expired, but the server is not responsive", for ever',
      ids: ['E11'],
    },
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
  ],
  heldElsewhere: [
    {
      reports: ['k3s-io/k3s#9785', 'k3s-io/k3s#9900', 'k3s-io/k3s#9901'],
      seen: 'the command that rotates fails on a node that is no server',
      by: 'test/renew.test.ts',
    },
  ],
}
