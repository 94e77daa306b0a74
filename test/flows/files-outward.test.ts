import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const NOTE = {
  file_name: 'Nötiz.txt',
  mime_type: 'text/plain',
  content_base64: Buffer.from('Hello').toString('base64'),
};

describe('files and custom fields that tools send', () => {
  let vendor: Upstream;
  let server: TestServer;

  const account = async (connector: string, more: object = {}) =>
    (
      await createAccount(server, {
        connector,
        connectedAccount: { authorization_details: { oauth_token: { access_token: 'tokenOfAda' } }, ...more },
      })
    ).id;
  const sent = () => vendor.requests.at(-1) ?? expect.fail('nothing was sent');

  before(async () => {
    vendor = await startUpstream();
    const origins = [
      'https://gmail.googleapis.com',
      'https://graph.microsoft.com',
      'https://outlook.office.com',
      'https://api.media.atlassian.com',
      'https://content.dropboxapi.com',
      'https://api.github.com',
      'https://api.atlassian.com',
      'https://api.linear.app',
      'https://storage.googleapis.com',
      'https://files.stripe.com',
      'https://api.stripe.com',
    ];
    const overrides = origins.map((origin) => vendor.endpointOverride(origin)).join(',');
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides } });
  });
  after(async () => {
    await server.stop();
    await vendor.stop();
  });
  beforeEach(() => {
    vendor.requests.length = 0;
    vendor.handler = (_request, res) => json(res, 200, { id: '1' });
  });

  it('attach files to an e-mail that is sent as a message (RFC 5322)', async () => {
    const input = { to: ['ada@example.com'], subject: 'Note', body: 'See below.', attachments: [NOTE] };
    const { body } = await execute(server, await account('gmail'), 'gmail_send_message', input);
    expect(body.tool_error).to.equal(undefined);
    const message = Buffer.from(JSON.parse(sent().body).raw, 'base64url').toString();
    expect(message).to.include('Content-Type: multipart/mixed;');
    expect(message).to.include(`filename*=UTF-8''N%C3%B6tiz.txt`);
    expect(message).to.include(`\r\n\r\n${NOTE.content_base64}\r\n`);
  });

  it('send an e-mail without attachments as one part', async () => {
    const input = { to: ['ada@example.com'], subject: 'Note', body: 'Nothing below.' };
    await execute(server, await account('gmail'), 'gmail_send_message', input);
    expect(Buffer.from(JSON.parse(sent().body).raw, 'base64url').toString()).to.not.include('multipart');
  });

  it('attach files to an e-mail that is sent as JSON', async () => {
    vendor.handler = (_request, res) => res.writeHead(202).end();
    const id = await account('outlook');
    const input = { to: ['ada@example.com'], subject: 'Note', body: 'See below.' };
    await execute(server, id, 'outlook_send_message', { ...input, attachments: [NOTE] });
    expect(JSON.parse(sent().body).message.attachments).to.deep.equal([
      {
        '@odata.type': '#microsoft.graph.fileAttachment',
        name: NOTE.file_name,
        contentType: NOTE.mime_type,
        contentBytes: NOTE.content_base64,
      },
    ]);
    await execute(server, id, 'outlook_send_message', input);
    expect(JSON.parse(sent().body).message).to.not.have.property('attachments');
  });

  it('upload a large attachment to the address of a session, in one piece and without the credential', async () => {
    const address = "/api/v2.0/Users('a8@72')/Messages('AAMk=')/AttachmentSessions('AAMkS=')?authtoken=eyJ0.b-c";
    vendor.handler = ({ method }, res) =>
      method === 'POST'
        ? json(res, 201, { uploadUrl: `https://outlook.office.com${address}`, nextExpectedRanges: ['0-'] })
        : res.writeHead(201, { location: 'https://outlook.office.com/x' }).end();
    const input = { message_id: 'AAMk=', file: NOTE };
    const { body } = await execute(server, await account('outlook'), 'outlook_upload_attachment', input);
    expect(body.tool_error).to.equal(undefined);
    const [session, bytes] = vendor.requests;
    expect(JSON.parse(session?.body ?? '').AttachmentItem).to.deep.equal({
      attachmentType: 'file',
      name: NOTE.file_name,
      contentType: NOTE.mime_type,
      size: 5,
    });
    expect(session?.headers['authorization']).to.equal('Bearer tokenOfAda');
    expect([bytes?.method, bytes?.target, bytes?.body]).to.deep.equal(['PUT', address, 'Hello']);
    expect(bytes?.headers).to.include({ 'content-range': 'bytes 0-4/5', 'content-type': 'application/octet-stream' });
    expect(bytes?.headers).to.not.have.property('authorization');
  });

  it('do not upload an attachment to a host that the tool does not name', async () => {
    vendor.handler = (_request, res) => json(res, 201, { uploadUrl: 'https://api.github.com/upload' });
    const input = { message_id: 'AAMk=', file: NOTE };
    const { body } = await execute(server, await account('outlook'), 'outlook_upload_attachment', input);
    expect(body.tool_error).to.not.equal(undefined);
    expect(vendor.requests).to.have.length(1);
  });

  it('attach a file to a page, label the page, and download the file from the address of the redirect', async () => {
    const id = await account('confluence', { api_config: { cloud_id: '11223344-a1b2-4c33-8d44-e55f66a7b8c9' } });
    const page_id = '131073';
    vendor.handler = (_request, res) => json(res, 200, { results: [{ id: 'att7', title: NOTE.file_name }] });
    const attached = await execute(server, id, 'confluence_attach_file', { page_id, file: NOTE, comment: 'Änderung' });
    expect(attached.body.data).to.deep.equal([{ id: 'att7', title: NOTE.file_name }]);
    expect(sent().headers['x-atlassian-token']).to.equal('no-check');
    expect(sent().body).to.include('name="minorEdit"\r\n\r\nfalse');
    expect(sent().body).to.include('name="comment"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n');

    await execute(server, id, 'confluence_add_labels', { page_id, labels: ['draft'] });
    expect(JSON.parse(sent().body)).to.deep.equal([{ prefix: 'global', name: 'draft' }]);

    vendor.handler = ({ target }, res) =>
      target.endsWith('/download')
        ? res.writeHead(302, { location: 'https://api.media.atlassian.com/file/7/binary?token=signed' }).end()
        : res.writeHead(200, { 'content-type': 'text/plain' }).end('Hello');
    const { body } = await execute(server, id, 'confluence_download_attachment', { page_id, attachment_id: 'att7' });
    expect(body.data).to.include({ size: 5 });
    expect(sent().target).to.equal('/file/7/binary?token=signed');
    expect(sent().headers).to.not.have.property('authorization');
  });

  it('attach a file to an issue, with the headers that are signed for its upload', async () => {
    const signed = '/uploads.linear.app/7/note?X-Goog-Signature=a1';
    const asset = 'https://uploads.linear.app/7/note';
    const headers = [
      { key: 'x-goog-content-length-range', value: '5,5' },
      { key: 'Content-Type', value: 'text/plain;charset=utf-8' },
    ];
    const uploadFile = { uploadUrl: `https://storage.googleapis.com${signed}`, assetUrl: asset, headers };
    vendor.handler = ({ method, body }, res) => {
      if (method === 'PUT') return res.writeHead(200).end();
      if (body.includes('fileUpload')) return json(res, 200, { data: { fileUpload: { success: true, uploadFile } } });
      return json(res, 200, { data: { attachmentCreate: { attachment: { id: 'a7', title: 'Note', url: asset } } } });
    };
    const id = await account('linear');
    const input = { issue_id: 'ENG-42', title: 'Note', file: NOTE };
    const { body } = await execute(server, id, 'linear_attach_file', input);
    expect(body.data, JSON.stringify(body)).to.deep.equal({ id: 'a7', title: 'Note', url: asset });
    const [announced, bytes, attached] = vendor.requests;
    const variables = { type: NOTE.mime_type, name: NOTE.file_name, size: 5 };
    expect(JSON.parse(announced?.body ?? '').variables).to.deep.equal(variables);
    expect([bytes?.method, bytes?.target, bytes?.body]).to.deep.equal(['PUT', signed, 'Hello']);
    expect(bytes?.headers).to.deep.include({
      'x-goog-content-length-range': '5,5',
      'content-type': 'text/plain;charset=utf-8',
      'cache-control': 'public, max-age=31536000',
    });
    expect(bytes?.headers).to.not.have.property('authorization');
    expect(JSON.parse(attached?.body ?? '').variables.input).to.deep.equal({
      issueId: 'ENG-42',
      title: 'Note',
      url: asset,
    });
    expect(attached?.headers['authorization']).to.equal('Bearer tokenOfAda');

    headers.push({ key: 'Authorization', value: 'Basic eDp4' });
    vendor.requests.length = 0;
    const refused = await execute(server, id, 'linear_attach_file', input);
    expect(refused.body.tool_error).to.include({ kind: 'upstream_invalid_response', retryable: false });
    expect(refused.body.tool_error.message).to.include('/data/fileUpload/uploadFile/headers/2');
    expect(vendor.requests).to.have.length(1);
  });

  it('upload evidence at the origin for files, and name it in the defence against a dispute', async () => {
    const { id } = await createAccount(server, {
      connector: 'stripe',
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'sk_test_keyOfAcme0001' } } } },
    });
    const file = { file_name: 'receipt.pdf', mime_type: 'application/pdf', content_base64: 'JVBERi0xLjQ=' };
    vendor.handler = (_request, res) => json(res, 200, { id: 'file_1MtJ', filename: 'receipt.pdf', size: 8 });
    const { body } = await execute(server, id, 'stripe_upload_evidence', { file });
    expect(body.data).to.deep.equal({ id: 'file_1MtJ', filename: 'receipt.pdf', size: 8 });
    expect([sent().target, sent().headers['authorization']]).to.deep.equal([
      '/v1/files',
      'Bearer sk_test_keyOfAcme0001',
    ]);
    expect(sent().headers['content-type']).to.match(/^multipart\/form-data; boundary=/);
    expect(sent().body).to.match(/name="purpose"\r\n(.*\r\n)*\r\ndispute_evidence\r\n/);
    expect(sent().body).to.include('filename="receipt.pdf"').and.include('%PDF-1.4');

    vendor.handler = (_request, res) => json(res, 200, { id: 'du_7' });
    await execute(server, id, 'stripe_update_dispute', { dispute: 'du_7', receipt_file_id: body.data.id });
    const form = Object.fromEntries(new URLSearchParams(sent().body));
    expect(form).to.deep.equal({ submit: 'false', 'evidence[receipt]': 'file_1MtJ' });
  });

  it('upload bytes, with their path as JSON in a header', async () => {
    const input = { path: '/Angebote/Nötiz.txt', file: NOTE };
    const { body } = await execute(server, await account('dropbox'), 'dropbox_upload_file', input);
    expect(body.tool_error).to.equal(undefined);
    const { headers, target, body: bytes } = sent();
    expect([target, bytes, headers['content-type']]).to.deep.equal([
      '/2/files/upload',
      'Hello',
      'application/octet-stream',
    ]);
    expect(headers['dropbox-api-arg']).to.match(/^[\x20-\x7e]+$/);
    expect(JSON.parse(headers['dropbox-api-arg'] ?? '')).to.deep.equal({
      path: input.path,
      mode: 'add',
      autorename: true,
    });
  });

  it('send custom fields beside the usual ones, and refuse one that the tool sets itself', async () => {
    const id = await account('jira', { api_config: { cloud_id: '11223344-a1b2-4c33-8d44-e55f66a7b8c9' } });
    const input = { project_key: 'OPS', issue_type: 'Story', summary: 'Login' };
    vendor.handler = (_request, res) => json(res, 201, { id: '1', key: 'OPS-1' });
    const custom_fields = { customfield_10016: 3 };
    const { body } = await execute(server, id, 'jira_create_issue', { ...input, custom_fields });
    expect(body.tool_error).to.equal(undefined);
    expect(JSON.parse(sent().body).fields).to.include({ summary: 'Login', customfield_10016: 3 });
    const refused = await execute(server, id, 'jira_create_issue', { ...input, custom_fields: { summary: 'Other' } });
    expect(refused.status, refused.text).to.equal(400);
    expect(refused.text).to.include('custom_fields');
    expect(vendor.requests).to.have.length(1);
  });

  it('list threads of a review page by page, and resolve one', async () => {
    const id = await account('github');
    const thread = { id: 'PRRT_1', isResolved: false, path: 'a.ts', line: 3, comments: { nodes: [] } };
    const page = { pageInfo: { hasNextPage: true, endCursor: 'c1' }, nodes: [thread] };
    vendor.handler = (_request, res) =>
      json(res, 200, { data: { repository: { pullRequest: { reviewThreads: page } } } });
    const input = { owner: 'octocat', repo: 'hello-world', pull_number: 42 };
    const first = await execute(server, id, 'github_list_review_threads', input);
    expect(first.body.data).to.deep.equal([thread]);
    await execute(server, id, 'github_list_review_threads', { ...input, cursor: first.body.next_cursor });
    expect(JSON.parse(sent().body).variables).to.include({ number: 42, after: 'c1' });
    vendor.handler = (_request, res) =>
      json(res, 200, { data: { resolveReviewThread: { thread: { id: 'PRRT_1', isResolved: true } } } });
    const resolved = await execute(server, id, 'github_resolve_review_thread', { thread_id: 'PRRT_1' });
    expect(resolved.body.data).to.deep.equal({ id: 'PRRT_1', isResolved: true });
  });
});
