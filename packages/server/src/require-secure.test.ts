// Who may listen where without protection, and what is printed to those who may not.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { isInsecure, requireSecure } from './require-secure.ts';

const options = { data: '/srv/sd1', listen: '10.0.0.1:6200', trust: [], insecureListen: false };

function refusal(given: Parameters<typeof requireSecure>[0]): CodedError | null {
  try {
    requireSecure(given);
    return null;
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

test.each(['127.0.0.1:6200', '127.9.9.9:1', '[::1]:6200', 'localhost:6200'])(
  'at %s nothing is needed',
  (listen) => {
    expect(refusal({ ...options, listen })).toBeNull();
    expect(isInsecure({ ...options, listen })).toBe(false);
  },
);

test.each(['10.0.0.1:6200', '0.0.0.0:6200', '[::]:6200', 'sd1.example:6200', '127.0.0.1.evil:1'])(
  'at %s TLS and trust are needed, or an explicit word',
  (listen) => {
    expect(refusal({ ...options, listen })?.details).toMatchObject({ lacks: ['--tls', '--trust'] });
    const [tls, trust] = ['own', ['rings/trust.json']];
    expect(refusal({ ...options, listen, tls })?.details).toMatchObject({ lacks: ['--trust'] });
    expect(refusal({ ...options, listen, trust })?.details).toMatchObject({ lacks: ['--tls'] });
    expect(refusal({ ...options, listen, tls, trust })).toBeNull();
    expect(refusal({ ...options, listen, insecureListen: true })).toBeNull();
    expect(isInsecure({ ...options, listen, insecureListen: true })).toBe(true);
  },
);

test('what is printed can be typed as it stands', () => {
  const { hint } = refusal(options) ?? { hint: '' };
  const rest = '--data /srv/sd1 --listen 10.0.0.1:6200';
  expect(hint).toContain(`  ring-server ${rest} --tls own --trust rings/trust.json`);
  expect(hint).toContain(`  ring-server ${rest} --insecure-listen`);
  expect(hint).toContain('  ring-builder key generate');
});
