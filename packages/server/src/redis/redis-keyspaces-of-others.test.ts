// Attack: a client with a token for one keyspace asks which other keyspaces exist.
import { storedAccess } from '@ringwright/access/open-access';
import { expect, test } from 'vitest';
import { granted, signedAccess, testToken } from '../../../../test/support/access.ts';
import { credentialFrom } from '../access/credential.ts';
import { Guard } from '../access/guard.ts';
import {
  currentKeyspace,
  type RedisCall,
  type RedisCommand,
  requireCommand,
} from './redis-command.ts';
import { connectionCommands } from './redis-connection-commands.ts';
import { serverCommands } from './redis-server-commands.ts';

const read = { role: 'read', keyspace: 'notes', prefix: 'shop:' } as const;
const access = storedAccess(signedAccess({ tokens: [granted('shop', [read])] }));
const guard = new Guard({
  access: () => access,
  isStrict: true,
  operatorListen: null,
  certified: () => null,
  nowMs: () => 0,
  onRefusal: () => undefined,
});
const rings = ['notes', 'salaries'].map((keyspace) => ({ ring: { keyspace, version: 1 } }));

function select(call: RedisCall): unknown {
  return connectionCommands.select?.run?.(call);
}

function callOf(...words: string[]): RedisCall {
  const list = {
    list: () => rings,
    find: (name: string) => rings.find(({ ring }) => ring.keyspace === name),
  };
  const about = { uptimeMs: () => 0, connections: () => 1, commands: () => 1 };
  const client = { credential: credentialFrom('here', testToken('shop')), keyspace: null };
  const ports = { guard, about, coordinator: { rings: list } };
  const args = words.map((word) => Buffer.from(word));
  return { ports, client, args, keyspace: null } as unknown as RedisCall;
}

test('SELECT answers for a keyspace of others as for one that does not exist', () => {
  const own = callOf('notes');
  select(own);
  expect(own.client.keyspace).toBe('notes');
  const refusal = (name: string): string => {
    try {
      select(callOf(name));
    } catch (error) {
      return String((error as Error).message).replace(name, 'NAME');
    }
    return 'taken';
  };
  expect(refusal('salaries')).toBe(refusal('nothing'));
  expect(refusal('salaries')).toContain('no ring');
});

test('after a refused SELECT, no command uses the keyspace before', () => {
  for (const name of ['nothing', '1', 'x'.repeat(100)]) {
    const call = callOf(name);
    expect(() => select(call), name).toThrow(/no ring|out of range/);
    expect(currentKeyspace({ ...call, ...call.client })).toBe(name.slice(0, 64));
    select({ ...call, args: [Buffer.from('0')] });
    expect(call.client.keyspace).toBeNull();
  }
});

test('a command in a default keyspace of others does not name it', () => {
  const command = { needs: 'read', keys: 'first' } as unknown as RedisCommand;
  const refusal = (keyspace: string): string => {
    const call = callOf('tax:1');
    const ports = { ...call.ports, about: { ...call.ports.about, keyspace } };
    try {
      requireCommand(command, { ...call, ports }, 'read');
    } catch (error) {
      return String((error as Error).message);
    }
    return 'taken';
  };
  expect(refusal('salaries')).toMatch(/^NOPERM .*SELECT its own by name$/);
  expect(refusal('salaries')).not.toContain('salaries');
  expect(refusal('notes')).toContain('it needs read this key of notes');
});

test('INFO lists only the keyspaces that the token may use', () => {
  const { info } = serverCommands;
  const reply = info?.run?.(callOf()) as { readonly bytes: Uint8Array };
  const shown = Buffer.from(reply.bytes).toString();
  expect(shown).toContain('ring_notes:version=1');
  expect(shown).not.toContain('salaries');
});
