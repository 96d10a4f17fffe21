import type { ConnectRpc } from '../ports.ts'

/** Bytes of one message, as the kubelet takes them from a runtime. */
const largestMessage = 16 * 1024 * 1024

/** gRPC is loaded only here and only when it is needed: it takes 0.1 s and 15 MB. */
export const systemRpc: ConnectRpc = async endpoint => {
  const { Client, credentials } = await import('@grpc/grpc-js')
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.max_receive_message_length': largestMessage,
    'grpc.max_send_message_length': largestMessage,
    // A runtime that was restarted is found again at once.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.min_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.enable_http_proxy': 0,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
  })
  const underWay = new Set<{ cancel(): void }>()
  const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    call: (method, request, { milliseconds, signal }) =>
      new Promise((resolve, reject) => {
        const call = client.makeUnaryRequest(
          method,
          toBuffer,
          (bytes: Buffer): Uint8Array => bytes,
          request,
          // grpc-js measures from its own clock; only the distance counts.
          { deadline: Date.now() + milliseconds },
          (error, answer) => {
            underWay.delete(call)
            signal?.removeEventListener('abort', cancel)
            if (error) reject(error)
            else resolve(answer ?? new Uint8Array())
          },
        )
        underWay.add(call)
        const cancel = () => call.cancel()
        signal?.addEventListener('abort', cancel, { once: true })
        if (signal?.aborted) cancel()
      }),
    async *stream(method, request, signal) {
      const call = client.makeServerStreamRequest(
        method,
        toBuffer,
        (bytes: Buffer): Uint8Array => bytes,
        request,
      )
      underWay.add(call)
      const cancel = () => call.cancel()
      signal.addEventListener('abort', cancel, { once: true })
      if (signal.aborted) cancel()
      try {
        yield* call as AsyncIterable<Uint8Array>
      } finally {
        underWay.delete(call)
        signal.removeEventListener('abort', cancel)
        cancel()
      }
    },
    close() {
      for (const call of underWay) call.cancel()
      client.close()
    },
  }
}
