import type { Messages } from './messages.ts';

/** Korean. */
export const ko: Messages = {
  // Header and footer of every page
  'brand.keeps_safe': '{application}에서는 Valetkey로 이를 안전하게 보호합니다.',
  'brand.kept_safe': 'Valetkey로 안전하게 보호됩니다.',
  'brand.support': '지원',
  'brand.privacy': '개인정보 처리방침',
  'brand.terms': '이용약관',
  'brand.back': '{application}(으)로 돌아가기',
  'brand.back_unnamed': '애플리케이션으로 돌아가기',

  // The page of a link
  'link.title': '{provider} 연결',
  'link.title_with_problems': '오류: {provider} 연결',
  'link.asks': '{application}에서 {provider} 계정에 대한 접근을 요청합니다.',
  'link.account': '대상',
  'link.address': '위치',
  'link.scopes': '{application}에서 할 수 있는 일',
  'link.scopes_unknown': '공유할 내용은 다음 페이지에 표시됩니다.',
  'link.scopes_read': '읽기',
  'link.scopes_write': '만들기 및 변경',
  'link.scopes_delete': '삭제',
  'link.can_delete': '데이터를 삭제할 수 있음',
  'link.continue': '{provider}(으)로 계속',
  'link.connect': '연결',
  'link.cancel': '취소',
  'link.consent_note':
    '로그인은 {provider}에서 합니다. {provider} 비밀번호는 저희에게 전달되지 않습니다. {provider}에서 언제든지 접근을 취소할 수 있습니다.',
  'link.form_note': '입력한 내용은 암호화되어 저장되며 계정에 접근하는 데만 사용됩니다.',
  'link.key_page': '{provider}에서 받기',
  'link.new_tab': '(새 탭에서 열림)',
  'link.not_you':
    '{identifier} 본인이 아니거나 예상하지 못한 요청인가요? ‘취소’를 선택하거나 이 페이지를 닫으세요. 아무것도 공유되지 않습니다.',
  'link.minutes_left': {
    other: '이 링크는 앞으로 {count}분 동안 유효합니다.',
  },

  // Fields and what is wrong with them
  'field.optional': '(선택)',
  'field.show': '표시',
  'field.hide': '숨기기',
  'field.paste': '붙여넣기',
  'field.choose': '선택하세요',
  'problem.summary': {
    other: '다음 {count}개 항목을 수정해 주세요.',
  },
  'problem.required': '{field}: 필수 항목입니다.',
  'problem.format': '{field}: 형식이 올바르지 않습니다.',
  'problem.choice': '{field}: 선택할 수 있는 값이 아닙니다.',
  'problem.too_long': '{field}: 값이 너무 깁니다.',
  'problem.control': '{field}: 보이지 않는 문자가 있습니다. 다시 복사해 주세요.',
  'problem.address': '{field}: 허용되지 않는 주소입니다.',
  'problem.not_accepted': '{provider}에서 이 값을 받아들이지 않았습니다: {field}. 전체를 복사했는지 확인하세요.',

  // The token in the address of a page
  'token.title': '{provider} 연결 마치기',
  'token.heading': '한 단계 남았습니다',
  'token.text':
    '{provider}에서 이 페이지 주소의 끝에 토큰을 붙였습니다. 페이지가 자동으로 넘어가지 않으면 거기에서 이 칸으로 복사하세요.',
  'token.label': '{provider} 토큰',
  'token.hint': '이 페이지 주소에서 # 문자 뒤에 오는 모든 내용.',
  'token.note': '이 페이지의 주소에는 토큰이 들어 있으므로 공유하지 마세요.',
  'token.required': '아래 칸을 채워 주세요.',

  // Results
  'connected.title': '연결됨',
  'connected.text': '계정이 연결되었습니다. 이 페이지를 닫아도 됩니다.',
  'waiting.title': '한 단계 더',
  'waiting.text': '{application}(으)로 돌아가 마무리하세요.',
  'waiting.text_unnamed': '여기로 보낸 애플리케이션으로 돌아가 마무리하세요.',
  'used.title': '이미 사용됨',
  'used.text': '이 링크는 이미 사용되었습니다. 이 페이지를 닫아도 됩니다.',
  'expired.title': '이 링크는 만료되었습니다',
  'expired.text': '링크는 짧은 시간 동안만 유효합니다. 이 링크를 받은 곳에서 새 링크를 요청하세요.',
  'stray.title': '이 로그인은 만료되었습니다',
  'stray.text': '이 브라우저에서 링크를 다시 여세요. 아무것도 공유되지 않았습니다.',
  'stale.title': '링크를 다시 열어 주세요',
  'stale.text':
    '페이지가 너무 오래 열려 있었거나 이 브라우저가 쿠키를 저장하지 않습니다. 안전하게 돌아오려면 쿠키가 필요합니다.',
  'refused.title': '연결되지 않음',
  'refused.text': '거부했거나 {provider}에 설정된 조직 정책에서 허용하지 않습니다. 아무것도 공유되지 않았습니다.',
  'fault.title': '문제가 발생했습니다',
  'fault.text': '계정이 연결되지 않았습니다. 잠시 후 다시 시도해 주세요.',
  'fault.unreachable': '{provider}에 연결할 수 없습니다. 아무것도 저장되지 않았습니다. 잠시 후 다시 시도해 주세요.',
  'result.try_again': '다시 시도',
  'result.reference': '지원용 참조 번호:',

  // The page on which a user lets an application use their accounts
  'access.title': '접근을 허용할까요?',
  'access.unnamed': '이름 없는 애플리케이션',
  'access.asks': '{client}에서 내 계정에 대한 접근을 요청합니다.',
  'access.account': '로그인한 사용자',
  'access.client': '애플리케이션',
  'access.published_by': '게시자: {host}',
  'access.registered': '관리자가 등록함',
  'access.unverified': '스스로 등록했습니다. 이름이 확인되지 않았습니다.',
  'access.returns_to': '돌아갈 곳',
  'access.local_warning':
    '이 컴퓨터의 프로그램이 접근 권한을 얻게 되며 그 이름은 확인할 수 없습니다. 방금 직접 이 로그인을 시작한 경우에만 허용하세요.',
  'access.scopes': '할 수 있는 일',
  'access.see_tools': '다음에서 쓸 수 있는 도구 보기: {providers}',
  'access.see_own_tools': '내 계정에서 쓸 수 있는 도구 보기',
  'access.use_tools': '내 계정으로 이 도구 사용: 데이터 읽기, 만들기, 변경 및 삭제',
  'access.allow': '허용',
  'access.cancel': '취소',
  'access.not_you':
    '{identifier} 본인이 아니거나 예상하지 못한 요청인가요? ‘취소’를 선택하세요. 아무것도 공유되지 않습니다.',
  'login.over_title': '이 로그인은 유효하지 않습니다',
  'login.over_text':
    '로그인은 시작한 브라우저에서만, 짧은 시간 동안 한 번만 유효합니다. 애플리케이션에서 다시 시작하세요.',
  'login.bad_title': '애플리케이션이 로그인을 처리할 수 없습니다',

  // Requests that cannot be served
  'error.title': '이 요청에 문제가 있습니다',
  'error.not_found': '페이지가 없습니다.',
  'error.method': '이 페이지는 이런 종류의 요청을 지원하지 않습니다.',
  'error.too_many': '사용 중인 주소에서 요청이 너무 많습니다.',
  'error.host': '이 호스트 이름으로 제공되는 것이 없습니다.',
  'error.other': '요청을 이해할 수 없습니다.',
};
