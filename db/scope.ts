/**
 * Returns a proxy of an object whose members are functions, or objects with functions. After `close`, every call of a
 * function throws. So a unit that was rolled back, or code that kept its `tx`, cannot write into another transaction.
 */
export function openScope<T extends object>(target: T): { tx: T; close: () => void } {
  let open = true;
  const assertOpen = (): void => {
    if (!open) throw new Error('a transaction was used after its end');
  };
  return {
    tx: view(target, assertOpen),
    close: () => {
      open = false;
    },
  };
}

function view<T extends object>(target: T, assertOpen: () => void): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name);
      if (typeof member === 'function') {
        return (...args: unknown[]) => {
          assertOpen();
          return member(...args);
        };
      }
      return typeof member === 'object' && member !== null ? view(member, assertOpen) : member;
    },
  });
}
