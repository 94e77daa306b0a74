import type { Api } from './api.ts';
import type { Narrator } from './narrator.ts';
import { check } from './narrator.ts';

interface Stage {
  api: Api;
  narrator: Narrator;
  github: { origin: string; tokens: { ada: string; grace: string } };
}

/** Shows a built-in connector with two users, each of whom acts with her own token, a list in pages, and executions. */
export async function playGithub({ api, narrator, github }: Stage): Promise<void> {
  const { step, say } = narrator;

  await step(
    'Negative control: GitHub refuses a call without a token, and treats an unknown one as its first user',
    async () => {
      const bare = await fetch(`${github.origin}/user`);
      const unknown = await fetch(`${github.origin}/user`, { headers: { authorization: 'Bearer ghp_unknown' } });
      const { login } = (await unknown.json()) as { login: string };
      say(`without a token → ${bare.status}; with an unknown one → ${login}`);
      check(bare.status === 401 && login === 'nobody', 'a wrong credential shows');
    },
  );

  const accounts = await step('Connect two users with a personal access token each', async () => ({
    ada: await connect('ada', github.tokens.ada),
    grace: await connect('grace', github.tokens.grace),
  }));

  await step('Each acts as herself', async () => {
    for (const [name, id] of Object.entries(accounts)) {
      const { body } = await api.execute(200, id, 'github_get_authenticated_user', {});
      check(body.data.login === name, `the account of ${name} is ${name} at GitHub`);
    }
  });

  await step('Create three issues as ada, in one run of an agent', async () => {
    for (const title of ['Oil the gears', 'Check the Bernoulli numbers', 'Order punched cards']) {
      const input = { owner: 'ada', repo: 'engine', title };
      await api.execute(200, accounts.ada, 'github_create_issue', input, { agent_run_id: 'demo' });
    }
  });

  await step('List them two at a time: next_cursor leads to the next page', async () => {
    const input = { owner: 'ada', repo: 'engine', per_page: 2 };
    const first = await api.execute(200, accounts.ada, 'github_list_issues', input);
    const cursor = first.body.next_cursor as string;
    const second = await api.execute(200, accounts.ada, 'github_list_issues', { ...input, cursor });
    check(first.body.data.length === 2 && second.body.data.length === 1, 'two issues, then one');
    const authors = [...first.body.data, ...second.body.data].map((issue) => issue.user.login);
    check(
      authors.every((login) => login === 'ada'),
      'every issue is by ada',
    );
    check(second.body.next_cursor === undefined, 'the last page has no cursor');
  });

  await step('Every call is on record, here those of that run', async () => {
    const { body } = await api.call(200, 'GET', '/api/v1/executions?agent_run_id=demo');
    check(body.total_size === 3, 'three executions');
    for (const { tool_name: tool, status, duration_ms: ms } of body.executions) say(`${tool} ${status} in ${ms} ms`);
  });

  async function connect(name: string, token: string): Promise<string> {
    const created = await api.call(201, 'POST', '/api/v1/connected_accounts', {
      connector: 'github',
      user_id: name,
      identifier: name,
      connected_account: { authorization_details: { static_auth: { details: { token } } } },
    });
    return created.body.connected_account.id as string;
  }
}
