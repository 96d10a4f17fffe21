import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

export const a17: Check = {
  meta: {
    id: 'A17',
    severity: 'critical',
    title: 'The credential plugin gives a credential',
    failureTitle: 'The credential plugin of a kubeconfig on this node fails',
    symptom:
      'The kubelet stops: "unable to load a client to request certificates", or "exec: executable … failed".',
    description:
      'Runs the exec plugin that the kubeconfig names, as a kubelet does, and looks at its exit code, its answer, and when that ends. Behind it may be a token that is not plugged in, a PIN, or a program that is not there.',
    remedy: 'Run the plugin by hand: it says on stderr what it lacks.',
    explains: ['A10'],
  },
  views: [
    view({
      requiredArtifacts: ['execPlugins'],
      audit: ({ execPlugins }) =>
        execPlugins.flatMap(({ path, command, failure }) =>
          failure === undefined
            ? []
            : {
                object: path,
                everywhere: true,
                evidence: [{ value: failure, source: `${path} exec.command` }],
                cause: 'The plugin gives no credential.',
                fix: [
                  {
                    run: `ls -l ${shellWord(command)}; ${shellWord(command)}`,
                    purpose:
                      'on the node, as the user of the kubelet, with the arguments and environment of the kubeconfig',
                  },
                ],
                verify: { run: 'rollcall doctor node', purpose: 'finds it no more' },
              },
        ),
    }),
  ],
}
