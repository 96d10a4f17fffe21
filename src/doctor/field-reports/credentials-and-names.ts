import { k8s, type ReportSection } from './report-section.ts'

export const credentialsAndNames: ReportSection = {
  title: 'Bootstrap credentials, roles, names',
  reports: [
    {
      numbers: [34],
      reports: ['kubernetes/kubernetes#51509', 'mmumshad/kubernetes-the-hard-way#122'],
      seen: 'invalid bearer token, although the token is listed',
      ids: ['A02'],
    },
    {
      numbers: [36],
      reports: [
        'opsnull/follow-me-install-kubernetes-cluster#448',
        'opsnull/follow-me-install-kubernetes-cluster#140',
      ],
      seen: 'the bootstrap user may not create requests',
      ids: ['B01'],
    },
    {
      numbers: [38],
      reports: k8s(61345),
      seen: '"recognized csr … but subject access review was not approved", nothing in the API',
      ids: ['C01'],
    },
    {
      numbers: [39],
      reports: ['opsnull/follow-me-install-kubernetes-cluster#228'],
      seen: 'roles for approval are bound to another group',
      ids: ['C01', 'C02'],
    },
    {
      numbers: [41],
      reports: [...k8s(47695, 54482, 48687), 'kubernetes/cloud-provider-alibaba-cloud#6'],
      seen: 'node A cannot modify node B',
      ids: ['B02', 'B03'],
    },
    {
      numbers: [42],
      reports: ['openshift/microshift#1449', 'canonical/microk8s#3270', 'apprenda/kismatic#845'],
      seen: 'a host name in upper case',
      ids: ['B04'],
    },
    {
      numbers: [43],
      reports: ['kelseyhightower/kubernetes-the-hard-way#228'],
      seen: 'a certificate for `system:node:` without a name',
      ids: ['B05'],
    },
    {
      numbers: [44],
      reports: ['awslabs/amazon-eks-ami#610'],
      seen: 'serving requests come from a user that is no node',
      ids: ['C08'],
    },
    {
      numbers: [46],
      reports: ['okd-project/okd#1629'],
      seen: 'approving is Forbidden with the kubeconfig at hand',
      ids: ['C14', 'Z04'],
    },
  ],
}
