import { expect } from 'chai';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import type { Finished } from '../../../core/oauth/grants/authorization-code.ts';
import { type Flow, type FlowOptions, flowOf, grantedBy } from '../../support/oauth-flow.ts';
import { type Behaviour, type ScriptableAs, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';

/** A deviation of vendors from the standard, and the configuration with which the client supports it. */
export interface Deviation {
  behaviour: Behaviour;
  config: OAuthConfig;
  /** The configuration of a connector without support for the deviation. */
  without?: OAuthConfig;
  scopes?: string[];
  options?: FlowOptions;
  /** Further checks after the flow. */
  check?: (proof: { granted: ReturnType<typeof grantedBy>; flow: Flow; server: ScriptableAs }) => unknown;
}

/** Defines two tests: the server rejects a client without support for the deviation, and accepts one with it. */
export function deviation(title: string, { behaviour, config, without = {}, scopes, options, check }: Deviation): void {
  describe(title, () => {
    afterEach(closeAll);

    it('is refused without the deviation', async () => {
      const server = await startScriptableAs(behaviour);
      const outcome = await attempt(flowOf(server, without, options), scopes);
      expect(outcome.ok, JSON.stringify(outcome)).to.equal(false);
      // Shows that the server rejected a request, and that the client did not fail before it sent one.
      expect(server.visits + server.requests.length).to.be.greaterThan(0);
    });

    it('succeeds with the deviation', async () => {
      const server = await startScriptableAs(behaviour);
      const flow = flowOf(server, config, options);
      const granted = grantedBy(await flow.run(scopes));
      expect(server.isAlive(granted.access)).to.equal(true);
      await check?.({ granted, flow, server });
    });
  });
}

async function attempt(flow: Flow, scopes?: string[]): Promise<{ ok: boolean }> {
  try {
    const outcome: Finished = await flow.run(scopes);
    return outcome;
  } catch (error) {
    return { ok: false, ...(error as Error) };
  }
}
