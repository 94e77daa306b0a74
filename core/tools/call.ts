import type { AccountInputs } from '../connectors/account-inputs.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { baseUrlOf } from '../connectors/base-url.ts';
import { type Credential, placeCredential } from '../connectors/placement.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { type StoredFiles, storedFileIds } from './file-input.ts';
import type { CheckedInput, InputChecker } from './input.ts';
import { openCursor } from './pagination.ts';
import { renderRequest } from './request.ts';
import { draftRequest, type RequestDraft, type RequestFacts } from './request-draft.ts';
import type { Tool } from './tool.ts';

/** A tool, an account and what to do. */
export interface ToolCall {
  tool: Tool;
  /** The provider of the account; `toolFits` says whether the tool belongs to it. */
  provider: ProviderDefinition;
  /** The pattern by which the account authenticates. */
  pattern: AuthPattern;
  account: AccountInputs;
  /** As the caller sent it. */
  toolInput: unknown;
  /** The input, where it has been checked before. */
  checked?: CheckedInput | undefined;
  /** Becomes the idempotency key where the provider knows one. */
  executionId: string;
}

/** A call whose input is checked and whose request can be rendered. */
export interface PreparedCall extends RequestFacts {
  pattern: AuthPattern;
  /** Its request, where it depends on nothing that is read later; a call with other facts is made by `pageOf` or `withFiles`. */
  draft?: RequestDraft | undefined;
}

const NO_FILES: StoredFiles = new Map();

/** A request as people may see it. */
export interface DryRunRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** JSON where the body is JSON, else text; a file is its name, type and size. Absent without a body. */
  body?: unknown;
}

/**
 * Checks everything about a call that can be known before its credential is opened, so that a caller's mistake costs
 * neither a record nor a refresh.
 *
 * @throws ApiError INVALID_TOOL_INPUT, INVALID_API_CONFIG, PROVIDER_HAS_NO_BASE_URL
 */
export function prepareCall(call: ToolCall, inputs: InputChecker): PreparedCall {
  const { tool, provider, pattern, account, executionId } = call;
  const { input, cursor } = call.checked ?? inputs.check(tool, call.toolInput);
  const at = cursor === undefined ? undefined : openCursor(tool, cursor);
  const facts = { tool, provider, pattern, account, input, at, idempotencyKey: executionId };
  const draft = tool.mcp ? undefined : draftRequest(facts);
  // What an MCP server is sent is a matter of its protocol; only its address has to be there.
  if (tool.mcp) baseUrlOf(provider, account);
  // Stored files are read when the call runs; before that they are empty.
  return { ...facts, files: NO_FILES, draft: storedFileIds(tool, input).length > 0 ? undefined : draft };
}

/** The same call for another page of its result. */
export function pageOf(call: PreparedCall, cursor: string): PreparedCall {
  return { ...call, at: openCursor(call.tool, cursor), draft: undefined };
}

/** The same call with the stored files that it names. */
export function withFiles(call: PreparedCall, files: StoredFiles): PreparedCall {
  return { ...call, files, draft: undefined };
}

/**
 * The exact request that a call would send, with its credential masked; nothing is sent.
 *
 * @throws ApiError as executeTool does before it sends
 */
export function dryRun(call: PreparedCall, credential: Credential): DryRunRequest {
  const request = renderRequest(call, placeCredential(call.pattern, credential), { masked: true });
  const signed = credential.kind === 'signer' ? credential.signer.preview(request) : request;
  const { method, url, headers } = signed;
  if (signed.body === undefined) return { method, url, headers };
  // A signature may be part of a form.
  return { method, url, headers, body: signed.body === request.body ? request.preview : signed.body };
}
