// The access document in force: verified when it is offered, never rolled back, and on disk before
// it counts.
import { join } from 'node:path';
import {
  type Access,
  judgeAccess,
  openAccess,
  signersOfAccess,
  storedAccess,
} from '@ringwright/access/open-access';
import { CodedError } from '@ringwright/base/coded-error';
import { accessDocumentBytesMax } from '@ringwright/base/limits-access';
import { messageOf } from '@ringwright/base/thrown';
import { makeDirectory } from '@ringwright/node/durable-files';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { AccessHead } from '@ringwright/wire/hello';
import { replaceState } from '../device/state-file.ts';

interface AccessPorts {
  readonly directory: string;
  readonly nowMs: () => number;
  readonly trusts: () => readonly Trust[];
}

export class AccessStore {
  readonly #ports: AccessPorts;
  #current: Access | null;
  readonly #turns = new KeyedMutex();
  #onChange: (access: Access) => void = () => undefined;

  private constructor(ports: AccessPorts, current: Access | null) {
    this.#ports = ports;
    this.#current = current;
  }

  /**
   * Loads the document that was in force before the restart, even if its root has since expired or
   * is no longer trusted: a server that dropped the document would be open to everybody. Throws
   * ACCESS_INVALID.
   */
  static async load(ports: AccessPorts): Promise<AccessStore> {
    const file = fileIn(ports.directory);
    const bytes = await readRegularFile(file, accessDocumentBytesMax).catch(nullIfMissing);
    try {
      return new AccessStore(ports, bytes === null ? null : storedAccess(bytes));
    } catch (cause) {
      throw new CodedError('ACCESS_INVALID', `${file} cannot be read: ${messageOf(cause)}`, {
        hint: 'copy that file from the data directory of another server, then start again',
        details: { file },
        cause,
      });
    }
  }

  get current(): Access | null {
    return this.#current;
  }

  get head(): AccessHead | null {
    if (this.#current === null) return null;
    const { epoch, version } = this.#current.document;
    return { epoch, version };
  }

  /** `listener`: called with each document that comes into force. */
  onChange(listener: (access: Access) => void): void {
    this.#onChange = listener;
  }

  /** In force and on disk when it resolves. Throws ACCESS_ codes, TRUST_EXPIRED, TRUST_UNKNOWN. */
  offer(bytes: Uint8Array): Promise<void> {
    return this.#turns.run('access', () => this.#take(bytes));
  }

  async #take(bytes: Uint8Array): Promise<void> {
    const trusts = this.#ports.trusts();
    if (trusts.length === 0) {
      throw new CodedError('TRUST_UNKNOWN', 'this server trusts no root, so it accepts no grants', {
        hint: 'start it with ring-server --trust and the trust.json of the rings folder',
      });
    }
    const access = openAccess(bytes, trusts, this.#ports.nowMs());
    const held = this.#current;
    const isNewer = judgeAccess(held, access) === 'newer';
    // Also takes a copy of the same document with more valid signatures: the others may be of
    // revoked keys, and a server that was wiped gets this copy.
    const signers = (one: Access): number => signersOfAccess(one.bytes, trusts);
    if (!isNewer && held !== null && signers(access) <= signers(held)) return;
    await makeDirectory(this.#ports.directory);
    await replaceState(fileIn(this.#ports.directory), bytes);
    this.#current = access;
    if (isNewer) this.#onChange(access);
  }
}

function fileIn(directory: string): string {
  return join(directory, 'access.json');
}
