import type { ReportSection } from './report-section.ts'

export const caRotation: ReportSection = {
  title: 'Rotation of CAs',
  reports: [
    {
      reports: [
        'okd-project/okd#1881',
        'clastix/kamaji#315',
        'clastix/kamaji#240',
        'kubernetes/kubeadm#2027',
      ],
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
  ],
  untracked: [
    {
      title: 'GKE, credential rotation',
      seen: 'the provider rotates by itself when the CA is about to end, and nodes are made anew',
      ids: ['I11'],
    },
  ],
  heldElsewhere: [
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
  ],
}
