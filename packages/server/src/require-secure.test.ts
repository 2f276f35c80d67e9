// Tests at which addresses a server may listen without protection, and what a refusal prints.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { isInsecure, requireSecure } from './require-secure.ts';

const options = { data: '/srv/sd1', listen: '10.0.0.1:6200', trust: [], insecureListen: false };

function refusal(settings: Parameters<typeof requireSecure>[0]): CodedError | null {
  try {
    requireSecure(settings);
    return null;
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

test.each(['127.0.0.1:6200', '127.9.9.9:1', '[::1]:6200', 'localhost:6200'])(
  'a server at %s needs no protection',
  (listen) => {
    expect(refusal({ ...options, listen })).toBeNull();
    expect(isInsecure({ ...options, listen })).toBe(false);
  },
);

test.each(['10.0.0.1:6200', '0.0.0.0:6200', '[::]:6200', 'sd1.example:6200', '127.0.0.1.evil:1'])(
  'a server at %s needs TLS, trust and access, or --insecure-listen',
  (listen) => {
    const lacking = (changed: object): unknown =>
      refusal({ ...options, listen, ...changed })?.details['lacks'] ?? null;
    const all = { tls: 'own', trust: ['rings/trust.json'], tokenFile: 'peer.token' };
    expect(lacking({})).toEqual(['--tls', '--trust', '--token-file']);
    expect(lacking({ ...all, tls: undefined })).toEqual(['--tls']);
    expect(lacking({ ...all, trust: [] })).toEqual(['--trust']);
    expect(lacking({ ...all, tokenFile: undefined })).toEqual(['--token-file']);
    expect(lacking(all)).toBeNull();
    expect(isInsecure({ ...options, listen, ...all })).toBe(false);
    expect(refusal({ ...options, listen, insecureListen: true })).toBeNull();
    expect(isInsecure({ ...options, listen, insecureListen: true })).toBe(true);
  },
);

test.each(['operatorListen', 'replicationListen'])('%s beyond loopback is refused too', (door) => {
  const here = { ...options, listen: '127.0.0.1:6200' };
  expect(refusal({ ...here, [door]: '127.0.0.1:6300' })).toBeNull();
  expect(refusal({ ...here, [door]: '10.1.0.1:6300' })).toMatchObject({
    code: 'INSECURE_LISTEN',
    message: expect.stringContaining('reach 10.1.0.1:6300;'),
  });
});

test('the refusal prints complete commands that repeat all options as typed', () => {
  const typed = { ...options, device: 'sd1', redisPort: 6390, allowHost: ['a.example', '.rw'] };
  const { hint } = refusal(typed) ?? { hint: '' };
  const place = '--data /srv/sd1 --listen 10.0.0.1:6200 --allow-host a.example --allow-host .rw';
  const rest = '--device sd1 --redis-port 6390';
  const protection = '--trust rings/trust.json --token-file peer.token';
  expect(hint.split('\n')).toEqual([
    'set it up:',
    '  ring-builder key generate operator   # unless rings/trust.json exists',
    '  ring-builder access grant servers --peer --out peer.token',
    '  ring-builder access grant operator --operator --metrics --out operator.token',
    `  ring-server ${place} --tls own ${rest} ${protection}`,
    '  ring-builder access push   # once a ring names it',
    'or, if nobody else can reach that network:',
    `  ring-server ${place} --insecure-listen ${rest}`,
  ]);
});

test('the refusal does not ask for options that are already set', () => {
  const { hint } = refusal({ ...options, trust: ['t.json'], clientCa: 'my ca.pem' }) ?? {
    hint: '',
  };
  const words = "--client-ca 'my ca.pem' --trust t.json";
  const place = '--data /srv/sd1 --listen 10.0.0.1:6200';
  expect(hint.split('\n').slice(0, 2)).toEqual([
    'set it up:',
    `  ring-server ${place} --tls own ${words}`,
  ]);
});
