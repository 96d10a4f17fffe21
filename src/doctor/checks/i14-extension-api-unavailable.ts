import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

export const i14: Check = {
  meta: {
    id: 'I14',
    severity: 'warning',
    title: 'Extension API servers are available',
    failureTitle: 'An extension API server is not available for want of trust',
    symptom: '`kubectl top` fails; the garbage collector and namespaces that go away get stuck.',
    description:
      "The API server says by the condition Available of an APIService that it does not trust the extension server, or is not trusted by it: the front-proxy CA or the service's CA was changed and forgotten.",
    remedy: 'Bring the caBundle of the APIService, or the requestheader CA, up to date.',
  },
  views: [
    view({
      requiredArtifacts: ['calledServers'],
      audit: ({ calledServers }) =>
        calledServers
          .filter(({ unavailable }) => /x509|certificate|tls|401|unauthorized/i.test(unavailable ?? ''))
          .map(({ object, unavailable }) => ({
            object,
            evidence: [{ value: unavailable ?? '', source: `${object} status.conditions Available` }],
            cause: 'The API server and the extension server do not trust each other.',
            fix: [
              {
                run: 'kubectl get apiservices',
                purpose: 'shows which; put the present CA into spec.caBundle',
              },
              {
                run: 'kubectl -n kube-system get configmap extension-apiserver-authentication -o yaml',
                purpose: 'what extension servers trust the API server by',
              },
            ],
            verify: runDoctor,
          })),
    }),
  ],
}
