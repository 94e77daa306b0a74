import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DnsLimits } from '../../../core/net/dns.ts';
import { LookupError } from '../../../core/net/dns.ts';
import type { Resolver } from '../../../core/net/lookups.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';
import { createResolver } from '../../../core/net/resolver.ts';
import { type DnsResponse, type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { closeAll, eventually, failureOf, get, serve, startEgress } from './local.ts';

/** Longer than any response takes on a busy machine. */
const PATIENT: DnsLimits = { timeoutMs: 60_000, tryMs: 60_000, tries: 1, secondFamilyMs: 60_000 };
/** For tests in which no usable response arrives. */
const QUICK: Partial<DnsLimits> = { timeoutMs: 2_000, tryMs: 50 };

describe('M2: the resolver (P1)', () => {
  let server: DnsServer;
  let folder: ReturnType<typeof tempDir>;
  let hostsFile: string;

  beforeEach(async () => {
    server = await startDnsServer(() => 'nxdomain');
    folder = tempDir();
    hostsFile = join(folder.path, 'hosts');
  });
  afterEach(async () => {
    await closeAll();
    await server.stop();
    folder.remove();
  });

  const create = (limits: Partial<DnsLimits> = {}): Resolver =>
    createResolver({ hostsFile, servers: [server.address], limits: { ...PATIENT, ...limits } });

  function resolve(hostname: string, limits?: Partial<DnsLimits>, signal = new AbortController().signal) {
    return create(limits)(hostname, signal);
  }

  async function reasonOf(promise: Promise<unknown>): Promise<string> {
    const error: unknown = await promise.then(
      () => 'resolved',
      (failure: unknown) => failure,
    );
    return error instanceof LookupError ? error.reason : String(error);
  }

  function answering(a: DnsResponse, aaaa: DnsResponse): void {
    server.respond = ({ type }) => (type === 'A' ? a : aaaa);
  }

  describe('asks name servers', () => {
    it('for both families, and gives IPv4 addresses first', async () => {
      answering(['93.184.216.34', '93.184.216.35'], ['2606:4700::1111']);
      const addresses = ['93.184.216.34', '93.184.216.35', '2606:4700::1111'];
      expect(await resolve('a.example')).to.deep.equal(addresses);
      expect(server.questions.map(({ name, type }) => `${name} ${type}`).toSorted()).to.deep.equal([
        'a.example A',
        'a.example AAAA',
      ]);
    });

    for (const [what, a, aaaa, expected] of [
      ['IPv6 alone', [], ['2606:4700::1111'], ['2606:4700::1111']],
      ['IPv4 alone', ['93.184.216.34'], [], ['93.184.216.34']],
      ['IPv4 while the other request fails', ['93.184.216.34'], 'servfail', ['93.184.216.34']],
      ['IPv4 while the other request gets no response', ['93.184.216.34'], 'silent', ['93.184.216.34']],
      ['IPv6 while the other request fails', 'servfail', ['2606:4700::1111'], ['2606:4700::1111']],
      ['IPv6 while the other request gets no response', 'silent', ['2606:4700::1111'], ['2606:4700::1111']],
    ] as const) {
      it(`and accepts ${what}`, async () => {
        answering(a, aaaa);
        // Only queries without a response need a short limit.
        const limits = { ...(a === 'silent' && { tryMs: 1_000 }), ...(aaaa === 'silent' && { secondFamilyMs: 20 }) };
        expect(await resolve('a.example', limits)).to.deep.equal(expected);
      });
    }

    it('over TCP when a response does not fit, for a name with many addresses', async () => {
      const many = Array.from({ length: 200 }, (_, index) => `93.184.216.${index}`);
      server.respond = ({ type, over }) => {
        if (type === 'AAAA') return [];
        return over === 'udp' ? 'truncated' : many;
      };
      expect(await resolve('a.example')).to.have.members(many);
      expect(server.questions.filter(({ over, type }) => over === 'tcp' && type === 'A')).to.have.length(1);
    });

    it('for the name as it is written, without a search domain', async () => {
      expect(await reasonOf(resolve('intranet'))).to.equal('none');
      expect([...new Set(server.questions.map(({ name }) => name))]).to.deep.equal(['intranet']);
    });
  });

  describe('reports that a name', () => {
    for (const [what, a, aaaa, reason] of [
      ['does not exist', 'nxdomain', 'nxdomain', 'none'],
      ['has no address', [], [], 'none'],
      ['cannot be resolved when the servers fail', 'servfail', 'servfail', 'failed'],
      ['cannot be resolved when the servers refuse', 'refused', 'refused', 'failed'],
      ['cannot be resolved when one family is unknown and the other fails', [], 'servfail', 'failed'],
      ['cannot be resolved when nothing responds', 'silent', 'silent', 'failed'],
      ['cannot be resolved when the response is noise', Buffer.from('noise'), Buffer.from('noise'), 'failed'],
    ] as const) {
      it(what, async () => {
        answering(a, aaaa);
        const isUnanswered = a === 'silent' || Buffer.isBuffer(a);
        expect(await reasonOf(resolve('a.example', isUnanswered ? QUICK : {}))).to.equal(reason);
      });
    }

    it('cannot be resolved at the time limit, regardless of the remaining attempts', async () => {
      answering('silent', 'silent');
      const limits = { timeoutMs: 30, tryMs: 10_000, tries: 4 };
      expect(await reasonOf(resolve('a.example', limits))).to.equal('failed');
    });
  });

  describe('ignores forged responses', () => {
    const forged = (change: (response: Buffer) => void): DnsServer['respond'] => {
      return (_question, request) => {
        const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        request.copy(header, 0, 0, 2);
        const end = request.indexOf(0, 12) + 5;
        const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
        const response = Buffer.concat([header, request.subarray(12, end), record]);
        change(response);
        return response;
      };
    };

    it('to another request', async () => {
      server.respond = forged((response) => response.writeUInt16BE(response.readUInt16BE(0) ^ 1, 0));
      expect(await reasonOf(resolve('a.example', QUICK))).to.equal('failed');
    });

    it('for another name', async () => {
      server.respond = forged((response) => response.write('z', 13, 'latin1'));
      expect(await reasonOf(resolve('a.example', QUICK))).to.equal('failed');
    });

    it('with a truncated record', async () => {
      server.respond = forged((response) => response.writeUInt16BE(2, response.length - 6));
      expect(await reasonOf(resolve('a.example', QUICK))).not.to.equal('resolved');
    });

    it('with a name that is an alias of itself', async () => {
      server.respond = forged((response) => {
        response.writeUInt16BE(5, response.length - 14);
        response.writeUInt16BE(2, response.length - 6);
        response.writeUInt16BE(0xc00c, response.length - 4);
      });
      expect(await reasonOf(resolve('a.example', QUICK))).not.to.equal('resolved');
    });
  });

  describe('reads the hosts file first', () => {
    it('for names and aliases in either case, IPv4 addresses first', async () => {
      writeFileSync(
        hostsFile,
        '# none\n::1 a.example\n 127.0.0.1\ta.example Alias # c.example\n::g bad\nfe80::1%lo0 a.example\n',
      );
      expect(await resolve('a.example')).to.deep.equal(['127.0.0.1', '::1']);
      expect(await resolve('alias')).to.deep.equal(['127.0.0.1']);
      expect(server.questions).to.deep.equal([]);
      expect(await reasonOf(resolve('c.example'))).to.equal('none');
      expect(await reasonOf(resolve('bad'))).to.equal('none');
      expect(server.questions.length).to.be.greaterThan(0);
    });

    it('in its state at the time of the lookup', async () => {
      const resolver = create();
      const { signal } = new AbortController();
      expect(await reasonOf(resolver('a.example', signal))).to.equal('none');
      writeFileSync(hostsFile, '10.0.0.1 a.example\n');
      expect(await resolver('a.example', signal)).to.deep.equal(['10.0.0.1']);
      writeFileSync(hostsFile, '10.0.0.22 a.example\n');
      expect(await resolver('a.example', signal)).to.deep.equal(['10.0.0.22']);
      rmSync(hostsFile);
      expect(await reasonOf(resolver('a.example', signal))).to.equal('none');
    });

    it('and keeps localhost and the names below it on this machine', async () => {
      for (const name of ['localhost', 'app.localhost']) {
        expect(await resolve(name)).to.deep.equal(['127.0.0.1', '::1']);
      }
      writeFileSync(hostsFile, '127.0.0.9 localhost\n');
      expect(await resolve('localhost')).to.deep.equal(['127.0.0.9']);
      expect(server.questions).to.deep.equal([]);
    });
  });

  it('aborts its requests when the caller stops', async () => {
    answering('silent', 'silent');
    const caller = new AbortController();
    const lookup = resolve('a.example', { timeoutMs: 60_000, tryMs: 60_000 }, caller.signal).catch((error) => error);
    await eventually(() => server.questions.length === 2);
    const reason = new Error('stopped');
    caller.abort(reason);
    expect(await lookup).to.equal(reason);
    const early = await resolve('b.example', {}, AbortSignal.abort(reason)).catch((error) => error);
    expect(early).to.equal(reason);
    expect(server.questions).to.have.length(2);
  });

  describe('as part of a call', () => {
    const policy = new EgressPolicy({ allow: [], overrides: [] });

    it('refuses a name with a forbidden address among allowed ones', async () => {
      const egress = startEgress(policy, { resolver: create() });
      for (const addresses of [['93.184.216.34', '10.0.0.1'], ['169.254.169.254']]) {
        answering(addresses, []);
        const failure = await failureOf(egress.send(get(`https://n${addresses.length}.example/`)));
        expect(failure).to.include({ kind: 'blocked', sent: false });
      }
      answering(['93.184.216.34'], ['fd00::1']);
      expect(await failureOf(egress.send(get('https://both.example/')))).to.include({ kind: 'blocked', sent: false });
    });

    it('refuses a name with too many addresses', async () => {
      const many = Array.from({ length: 65 }, (_, index) => `93.184.216.${index}`);
      server.respond = ({ type, over }) => (type === 'AAAA' ? [] : over === 'udp' ? 'truncated' : many);
      const egress = startEgress(policy, { resolver: create() });
      const failure = await failureOf(egress.send(get('https://many.example/')));
      expect(failure).to.include({ kind: 'unreachable', sent: false });
      expect(failure.message).to.equal('The name many.example resolves to more than 64 addresses.');
    });

    it('allows calls by address or to localhost while no name can be resolved', async () => {
      server.respond = () => 'silent';
      const local = await serve((_request, response) => response.end('well'));
      const allow = ['127.0.0.1', 'localhost'].map((host) => ({ host, port: local.port }));
      const resolver = create({ timeoutMs: 60_000, tryMs: 60_000 });
      const egress = startEgress(new EgressPolicy({ allow, overrides: [] }), { resolver });
      const stop = new AbortController();
      const hanging = Array.from({ length: 64 }, (_, index) =>
        failureOf(egress.send(get(`https://n${index}.example/`, { signal: stop.signal }))),
      );
      await eventually(() => server.questions.length === 128);
      for (const host of ['127.0.0.1', 'localhost']) {
        expect((await egress.send(get(`http://${host}:${local.port}/`))).body.toString()).to.equal('well');
      }
      stop.abort();
      for (const { kind } of await Promise.all(hanging)) expect(kind).to.equal('aborted');
    });
  });
});
