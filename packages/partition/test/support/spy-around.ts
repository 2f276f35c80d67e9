// Watches a method of all objects of a class, until the mocks are restored.
import { vi } from 'vitest';

/** Calls of a method, and what is done before and after each. */
export function spyAround(
  prototype: object,
  name: string,
  { before = () => {}, after = () => {} }: { before?: () => void; after?: () => void },
): void {
  const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
  vi.spyOn(prototype as Record<string, () => Promise<unknown>>, name).mockImplementation(
    async function (this: unknown, ...about) {
      before();
      const answer = await Reflect.apply(value, this, about);
      after();
      return answer;
    },
  );
}
