/**
 * Tasks of several steps, each with the tools that it needs: for each step the names of the tools that can do it. The
 * ranking and the search words are not tuned on them.
 */
export const TASKS: readonly (readonly [task: string, ...steps: (readonly string[])[]])[] = [
  [
    'find unread mails in gmail and create a jira issue for each',
    ['gmail_search_messages', 'gmail_search_threads'],
    ['jira_create_issue'],
  ],
  [
    'get the attachment of a gmail message and upload it to google drive',
    ['gmail_get_attachment'],
    ['google_drive_upload_file'],
  ],
  [
    'list the open pull requests on github and post a summary in a slack channel',
    ['github_list_pull_requests', 'github_search_issues'],
    ['slack_send_message', 'slack_user_send_message'],
  ],
  [
    'look up who is on call in pagerduty and send them a message on slack',
    ['pagerduty_list_oncalls'],
    ['slack_send_message', 'slack_user_send_message', 'slack_open_direct_message'],
  ],
  [
    'search hubspot contacts and add them to a mailchimp audience',
    ['hubspot_search_contacts'],
    ['mailchimp_upsert_member'],
  ],
  [
    'find a customer in stripe and refund the last payment',
    ['stripe_search_customers', 'stripe_list_customers'],
    ['stripe_create_refund'],
  ],
  [
    'check when I am free in google calendar and create an event',
    ['google_calendar_query_free_busy'],
    ['google_calendar_create_event'],
  ],
  [
    'read rows of a google sheet and create a hubspot contact for each',
    ['google_sheets_read_range', 'google_sheets_read_ranges'],
    ['hubspot_create_contact'],
  ],
  [
    'search sentry issues and create a linear issue for the worst one',
    ['sentry_search_issues'],
    ['linear_create_issue'],
  ],
  [
    'get the transcript of a fireflies meeting and create a notion page with it',
    ['fireflies_get_transcript'],
    ['notion_create_page'],
  ],
  [
    'list failed workflow runs on github and read the log of the job',
    ['github_list_workflow_runs'],
    ['github_get_job_logs'],
  ],
  [
    'search a zendesk ticket and reply to it',
    ['zendesk_search_tickets'],
    ['zendesk_reply_to_ticket', 'zendesk_reply_with_file'],
  ],
  ['find a file in dropbox and share a link to it', ['dropbox_search'], ['dropbox_create_shared_link']],
  ['list the invoices in xero and email an invoice to the customer', ['xero_list_invoices'], ['xero_email_invoice']],
  [
    'create a branch on gitlab, commit files and open a merge request',
    ['gitlab_create_branch'],
    ['gitlab_commit_files'],
    ['gitlab_create_merge_request'],
  ],
  [
    'create a sprint in jira, move issues to it and start the sprint',
    ['jira_create_sprint'],
    ['jira_move_issues_to_sprint'],
    ['jira_update_sprint'],
  ],
  [
    'list shopify orders and add a row for each to a google sheet',
    ['shopify_list_orders'],
    ['google_sheets_append_rows', 'google_sheets_insert_rows'],
  ],
  [
    'search the web with brave, read a page with firecrawl and append the text to a google doc',
    ['brave_search_search_web'],
    ['firecrawl_scrape'],
    ['google_docs_append_text'],
  ],
  [
    'find a salesforce account, attach a file to it and create a task',
    ['salesforce_search', 'salesforce_query'],
    ['salesforce_attach_file'],
    ['salesforce_create_task'],
  ],
  [
    'list the guests of a calendly event and create a deal in pipedrive',
    ['calendly_list_invitees'],
    ['pipedrive_create_deal'],
  ],
  ['create a zoom meeting and send the link by outlook mail', ['zoom_create_meeting'], ['outlook_send_message']],
  [
    'download a file from google drive and attach it to an asana task',
    ['google_drive_download_file', 'google_drive_export_file'],
    ['asana_attach_file'],
  ],
  [
    'check a datadog monitor and create a pagerduty incident',
    ['datadog_get_monitor', 'datadog_search_monitors', 'datadog_list_monitors'],
    ['pagerduty_create_incident'],
  ],
  [
    'run a query in snowflake and write the result into an excel range',
    ['snowflake_execute_sql'],
    ['excel_update_range'],
  ],
];
