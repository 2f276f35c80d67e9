import { expect, test } from 'vitest';
import { socketUrl } from './socket-url.ts';

test.each(['10.0.0.1:6200', '[fd00::1]:6200', 'bücher.example.:6200', 'a_b:1'])('%s', (address) => {
  expect(socketUrl(address)).toBe(`ws://${address}/v1/wire`);
});

test.each(['[fe80::1%eth0]:6200', '123.٣:6200', 'a b:1'])('%s cannot be reached', (address) => {
  expect(() => socketUrl(address)).toThrow(expect.objectContaining({ code: 'PEER_UNREACHABLE' }));
});
