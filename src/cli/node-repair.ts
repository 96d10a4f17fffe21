import type { Command } from 'commander'
import { carryOut, operationText } from '../hold/repair/operation.ts'
import { planRepair } from '../hold/repair/plan-repair.ts'
import { systemDisk } from '../host/disk.ts'
import type { CommandIo } from './command-io.ts'
import { printable } from './printable.ts'

interface RepairFlags {
  certDir: string
  kubeconfig: string
  bootstrapKubeconfig: string
  dryRun: boolean
}

export function register(node: Command, io: CommandIo): void {
  node
    .command('repair')
    .description("mend the files of this machine's kubelet or agent: links, pairs, kubeconfig; needs no API")
    .option('--cert-dir <dir>', 'where the pairs are', '/var/lib/kubelet/pki')
    .option('--kubeconfig <file>', "the kubelet's kubeconfig", '/etc/kubernetes/kubelet.conf')
    .option(
      '--bootstrap-kubeconfig <file>',
      'what it bootstraps with',
      '/etc/kubernetes/bootstrap-kubelet.conf',
    )
    .option('--dry-run', 'only say what would be done', false)
    .action(async ({ certDir, kubeconfig, bootstrapKubeconfig, dryRun }: RepairFlags) => {
      const repairs = await planRepair({
        disk: systemDisk,
        now: io.clock.now(),
        certDirectory: certDir,
        kubeconfigPath: kubeconfig,
        bootstrapKubeconfigPath: bootstrapKubeconfig,
      })
      for (const { problem, operations, advice } of repairs) {
        io.stdout(`${printable(problem)}\n`)
        for (const operation of operations) {
          if (!dryRun) await carryOut(systemDisk, operation)
          io.stdout(`  ${dryRun ? 'would ' : ''}${printable(operationText(operation))}\n`)
        }
        if (advice !== undefined) io.stdout(`  ${printable(advice)}\n`)
      }
      if (repairs.length === 0) io.stdout('nothing to mend\n')
      // As other commands that judge: found something, and it is still so.
      if (repairs.some(({ operations }) => dryRun || operations.length === 0)) io.exitWith(3)
    })
}
