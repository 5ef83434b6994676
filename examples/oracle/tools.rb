# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'zlib'

module Oracle
  # The tools of an oracle in small. Each does its real work and answers in the words that such tools use:
  # ÆtherCodex's hashes for files and commands, Rind's payloads for background tasks, content blocks for images.
  module Tools
    module_function

    # Gives lines +first+..last of the file, whole; how much of them the model sees is the bridge's business.
    def read_file(path:, range: nil)
      lines = File.readlines(path, encoding: 'UTF-8')
      first, last = range || [1, lines.size]
      { content: lines[(first - 1)..(last - 1)].join, path: path, range: [first, [last, lines.size].min] }
    rescue SystemCallError => e
      { error: e.message }
    end

    def run_command(command:, cwd: Dir.pwd)
      output, status = Open3.capture2e(command, chdir: cwd)
      { result: output.force_encoding(Encoding::UTF_8).scrub, exit_status: status.exitstatus, cwd: cwd }
    end

    # A structured result: one row for each match.
    def grep(pattern:, paths:)
      output, = Open3.capture2('grep', '-nH', '-e', pattern, *paths)
      matches = output.force_encoding(Encoding::UTF_8).scrub.each_line(chomp: true).map do |line|
        file, number, text = line.split(':', 3)
        { file: file, line: Integer(number), text: text }
      end
      { matches: matches, count: matches.size }
    end

    # Applies one SEARCH/REPLACE block to the file and answers with the unified diff of what changed.
    def patch_file(path:, diff:)
      search, replace = diff.match(/<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE/m).captures
      before = File.read(path, encoding: Encoding::UTF_8)
      return { ok: false, error: 'the searched text was not found' } unless before.include?(search)

      FileUtils.cp(path, "#{path}.orig")
      File.write(path, before.sub(search) { replace })
      unified, = Open3.capture2('diff', '-u', "#{path}.orig", path)
      { ok: true, diff: unified.force_encoding(Encoding::UTF_8) }
    end

    def view_image(path:)
      bytes = File.binread(path)
      { content: [{ type: 'text', text: "#{File.basename(path)}, #{bytes.bytesize} bytes" },
                  { type: 'image', data: [bytes].pack('m0'), mimeType: 'image/png' }] }
    end

    # Writes a real PNG of size +side+ with a colour gradient (PNG specification, sections 5 and 11).
    def write_png(path, side)
      rows = Array.new(side) { |y| [0, *Array.new(side) { |x| [x * 255 / side, y * 255 / side, 128] }.flatten].pack('C*') }
      chunk = ->(type, data) { [data.bytesize, type, data, Zlib.crc32(type + data)].pack('Na4a*N') }
      header = [side, side, 8, 2, 0, 0, 0].pack('NNC5')
      File.binwrite(path, "\x89PNG\r\n\x1a\n".b + chunk.call('IHDR', header) +
                          chunk.call('IDAT', Zlib.deflate(rows.join)) + chunk.call('IEND', ''))
      path
    end
  end

  # A command in the background whose output can be polled.
  class Task
    def initialize(id, command)
      @id = id
      @cursor = 0
      @output, @writer = IO.pipe
      @pid = Process.spawn(command, out: @writer, err: @writer)
      @writer.close
    end

    # What has arrived since the last poll, as Rind's bash_output says it.
    def poll
      text = read_available
      start = @cursor
      @cursor += text.bytesize
      exit_code = finished
      { ok: true, tool: 'bash_output',
        data: { task_id: @id, status: exit_code ? 'completed' : 'running', exit_code: exit_code,
                stdout: text, stderr: '', start_cursor: start, next_cursor: @cursor } }
    end

    private

    def read_available
      text = +''
      loop do
        chunk = @output.read_nonblock(65_536, exception: false)
        return text if chunk == :wait_readable || chunk.nil?

        text << chunk
      end
    end

    def finished
      @exit_code ||= Process.wait2(@pid, Process::WNOHANG)&.last&.exitstatus
    end
  end
end
