import { k8s, type ReportSection } from './report-section.ts'

export const servingAndClients: ReportSection = {
  title: 'Serving certificates and those who dial them',
  reports: [
    {
      numbers: [88],
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
      numbers: [90],
      reports: [
        ...k8s(59372, 50371, 17174, 72790),
        'kelseyhightower/kubernetes-the-hard-way#146',
        'kelseyhightower/kubernetes-the-hard-way#159',
      ],
      seen: 'the serving certificate is for another name than the one dialled',
      ids: ['G04', 'G05'],
    },
    {
      numbers: [94],
      reports: ['okd-project/okd#1640', 'openshift/machine-config-operator#965'],
      seen: "the kubelet does not know the CA of the API server's client certificate",
      ids: ['G08'],
    },
    { numbers: [95], reports: k8s(53027), seen: 'old pairs are never removed', ids: ['E08'] },
    {
      numbers: [93],
      reports: k8s(114588, 115315),
      seen: '401 for logs alone, after the client certificate of the API server was renewed',
      ids: ['G09'],
    },
    {
      numbers: [93],
      reports: [...k8s(120621, 49899), 'kubernetes/kops#16850'],
      seen: '401 after a renewal, on connections that were opened before it',
      ids: ['E16'],
    },
  ],
}
