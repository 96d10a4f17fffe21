import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import type { OpenTpm, TpmChannel } from '../keys/tpm/channel.ts'

/** Bytes of the longest response that the specification allows a TPM. */
const mostResponse = 4096
const headerLength = 10

export const systemTpm: OpenTpm = place => {
  const [, path] = /^unix:(\/.*)$/.exec(place) ?? []
  const [, host, port] = /^tcp:(.+):(\d+)$/.exec(place) ?? []
  if (path !== undefined) return overSocket({ path })
  return host !== undefined ? overSocket({ host, port: Number(port) }) : overDevice(place)
}

/** The device takes a whole command by one write and gives the whole response by one read. */
async function overDevice(path: string): Promise<TpmChannel> {
  const device = await open(path, 'r+')
  return {
    async exchange(command) {
      await device.write(command)
      const { buffer, bytesRead } = await device.read(Buffer.alloc(mostResponse), 0, mostResponse, null)
      return new Uint8Array(buffer.subarray(0, bytesRead))
    },
    close: () => void device.close(),
  }
}

/** A software TPM's data port: commands and responses one after the other, each with its length in its header. */
async function overSocket(to: { path: string } | { host: string; port: number }): Promise<TpmChannel> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect(to, () => {
      opening.off('error', reject)
      resolve(opening)
    })
    opening.once('error', reject)
  })
  // Somebody always listens: what fails between two exchanges is told to the next one.
  socket.on('error', () => {})
  return {
    exchange: command =>
      new Promise((resolve, reject) => {
        let response = Buffer.alloc(0)
        const done = (settle: () => void) => {
          socket.off('data', take).off('close', closed).off('error', failed)
          settle()
        }
        const take = (chunk: Buffer) => {
          response = Buffer.concat([response, chunk])
          if (response.length < headerLength) return
          const length = response.readUInt32BE(2)
          if (response.length >= length || length > mostResponse)
            done(() => resolve(new Uint8Array(response)))
        }
        const closed = () => done(() => reject(new Error('the connection was closed')))
        const failed = (error: Error) => done(() => reject(error))
        if (socket.destroyed) return reject(new Error('the connection was closed'))
        socket.on('data', take).once('close', closed).once('error', failed)
        socket.write(command)
      }),
    close: () => socket.destroy(),
  }
}
