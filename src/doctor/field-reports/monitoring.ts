import type { ReportSection } from './report-section.ts'

export const monitoring: ReportSection = {
  title: 'Monitoring',
  reports: [],
  heldElsewhere: [
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
  ],
}
