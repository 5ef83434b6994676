# frozen_string_literal: true

module Oracle
  # Shows a person what each tool became, and holds the budgets against what came back.
  class Report
    TERMINAL_MAX_BYTES = 8_192
    MODEL_MAX_BYTES = 25_600
    FORMAT = '%-12s %-46s %10s %9s %9s  %-28s %s'

    def initialize(rows, frames_path)
      @rows = rows
      @frames_path = frames_path
      @failed = []
    end

    def table
      puts '', format(FORMAT, 'tool', 'what', 'raw bytes', 'terminal', 'model', 'lines shown', 'where the rest is')
      @rows.each { |row| puts line(row) }
      puts
      bounded = @rows.reject { |row| row.completion.degraded? }
      check("#{bounded.size} projections parse and are within #{TERMINAL_MAX_BYTES} and #{MODEL_MAX_BYTES} bytes",
            bounded.all? { |row| within_limits?(row.completion) })
    end

    def check(claim, holds)
      puts "#{holds ? 'ok    ' : 'FAILED'}  #{claim}"
      @failed << claim unless holds
    end

    def frames
      puts "        #{File.foreach(@frames_path).count} status frames for the Swift app: #{@frames_path}"
    end

    def success?
      @failed.empty?
    end

    private

    def line(row)
      completion = row.completion
      format(FORMAT, row.tool, shorten(row.what, 46), row.raw_bytes, completion.terminal_content.to_s.bytesize,
             completion.model_content.to_s.bytesize, shown(completion), rest(completion))
    end

    def shorten(text, width)
      text.length <= width ? text : "…#{text[(1 - width)..]}"
    end

    # What the model was shown, in the words of its own meta.
    def shown(completion)
      return 'all (no worker)' if completion.degraded?
      return 'all' unless completion.truncated?

      meta = JSON.parse(completion.model_content)['meta']
      return "#{meta.dig('shortened', 'items')} items left out" if meta.dig('shortened', 'items')

      places = meta.fetch('shown', {})
      ranges = places.fetch('lines', []).map { |first, last| "#{first}-#{last}" }.join(', ')
      places['of'] ? "#{ranges} of #{places['of']}" : ranges
    end

    def rest(completion)
      places = [completion.output, *completion.attachments].filter_map { |place| place['path'] }
      places.any? ? places.join(' ') : completion.output['reason']
    end

    def within_limits?(completion)
      { completion.terminal_content => TERMINAL_MAX_BYTES, completion.model_content => MODEL_MAX_BYTES }
        .all? { |content, most| JSON.parse(content) && content.bytesize <= most }
    rescue JSON::ParserError
      false
    end
  end
end
