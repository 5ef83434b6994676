# frozen_string_literal: true

module RindBridge
  # The model's content when no worker gave one: the result as JSON while that is within the model's limits, else its
  # beginning and its end within them, with a marker between the two.
  #
  # A longest text of a Hash is cut in its place, so that an exit status beside a long output is not lost; anything
  # else is cut as the text of its JSON. The content is valid JSON in valid UTF-8 and holds no raw control character.
  class Excerpt
    # The worker's own, for as long as no worker has said otherwise.
    LIMITS = { 'model_max_bytes' => 25_600, 'model_max_lines' => 2000 }.freeze
    # The share of a cut text that its end gets: an error is more often there than in the middle.
    TAIL = 3

    attr_reader :content, :truncated, :total_bytes

    # Takes any object and a Hash with the names of LIMITS.
    def initialize(result, limits)
      @most_bytes, @most_lines = LIMITS.merge(limits.slice(*LIMITS.keys)).values
      whole = whole(result)
      @total_bytes = whole.bytesize
      @truncated = !fits?(whole)
      @content = @truncated ? in_place(result) || cut(String === result ? Utf8.of(result) : whole) : whole
    end

    private

    # The JSON that this Ruby writes for it; what is to be cut need not be JSON yet.
    def whole(result)
      result = JsonSafe.copy(result) if JsonSafe.warned_of?(result)
      text = Utf8.of(String === result ? JSON.generate(Utf8.of(result)) : result.to_json) # BasicObject has no is_a?
      return text if text.bytesize > @most_bytes

      JSON.parse(text)
      escaped(text)
    rescue StandardError, SystemStackError
      escaped(JSON.generate(JsonSafe.copy(result), max_nesting: 0))
    end

    # JSON allows these in a text, but a terminal takes some of them for the beginning of an escape sequence.
    def escaped(json) = json.gsub(/[\u007f-\u009f]/) { |control| format('\\u%04x', control.ord) }

    def fits?(json) = json.bytesize <= @most_bytes && json.scan(/\\./).count('\n') + json.count("\n") < @most_lines

    def in_place(result)
      return unless Hash === result

      copy = JsonSafe.copy(result)
      name, text = copy.select { |_, member| member.is_a?(String) }.max_by { |_, member| member.bytesize }
      cut(text) { |shorter| copy.merge(name => shorter) } if name
    end

    # Keeps as many characters as fit; the block puts the cut text where it belongs. Returns nil when none fit.
    def cut(text, &place)
      most = [@most_bytes, text.length].min
      ends = [text.byteslice(0, @most_bytes), text.byteslice(-@most_bytes, @most_bytes) || text].map { |part| part.scrub('') }
      contents = lambda do |kept|
        shorter = shortened(text, ends, kept)
        escaped(JSON.generate(place ? place.call(shorter) : shorter, max_nesting: 0))
      end
      too_many = (0...most).bsearch { |kept| !fits?(contents.call(kept)) } || most
      contents.call(too_many - 1) if too_many.positive?
    end

    def shortened(text, (first, last), kept)
      head = first[0, kept - (kept / TAIL)]
      tail = last[[last.length - (kept / TAIL), 0].max..]
      gone = text.bytesize - head.bytesize - tail.bytesize
      "#{head}\n[rind_bridge: no worker answered; #{gone} of #{text.bytesize} bytes are left out here and kept nowhere]\n#{tail}"
    end
  end
end
