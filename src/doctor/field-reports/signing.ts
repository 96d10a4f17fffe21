import { k8s, type ReportSection } from './report-section.ts'

export const signing: ReportSection = {
  title: 'Signing',
  reports: [
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
  ],
}
