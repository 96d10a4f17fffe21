import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'
import { SpdyError } from './frames.ts'
import { headerDictionary } from './header-dictionary.ts'

/** Bytes of one block of headers, unpacked; a stream keeps them while it is open. Kubernetes' clients send a hundred. */
const mostUnpacked = 8 * 1024

/** Headers of one session: compressed as one stream in each direction, so blocks are handled one after the other. */
export class HeaderCodec {
  readonly #inflate = createInflate({ dictionary: headerDictionary, flush: constants.Z_SYNC_FLUSH })
  readonly #deflate = createDeflate({ dictionary: headerDictionary, flush: constants.Z_SYNC_FLUSH })

  /** Rejects with SpdyError for what cannot be unpacked or grows beyond all measure. */
  unpack(block: Uint8Array): Promise<Uint8Array> {
    return through(this.#inflate, block, mostUnpacked)
  }

  pack(block: Uint8Array): Promise<Uint8Array> {
    return through(this.#deflate, block, Number.POSITIVE_INFINITY)
  }

  close(): void {
    this.#inflate.destroy()
    this.#deflate.destroy()
  }
}

function through(codec: Inflate | Deflate, block: Uint8Array, most: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const fail = (why: string) => {
      codec.off('data', take)
      codec.off('error', broken)
      codec.on('error', () => {})
      codec.destroy()
      reject(new SpdyError(why))
    }
    const broken = () => fail('headers cannot be unpacked')
    const take = (part: Buffer) => {
      size += part.length
      if (size > most) fail('headers are too large')
      else parts.push(part)
    }
    codec.on('data', take)
    codec.once('error', broken)
    codec.write(block, error => {
      if (error) return
      codec.off('data', take)
      codec.off('error', broken)
      resolve(Buffer.concat(parts))
    })
  })
}
