# frozen_string_literal: true

module RindBridge
  # One page of a stored output, and the way to those after it.
  class Page
    # +fetch+ takes offset: and column: and gives the Page there.
    def initialize(fields, &fetch)
      @fields = fields
      @fetch = fetch
      freeze
    end

    # What the worker's read_output gave, by its names.
    def to_h = @fields

    def [](name) = @fields[name.to_s]

    def content = @fields['content']

    # The first line not shown, and the first character not shown of it when a page ends inside of a line; nil
    # when none is left.
    def next_offset = @fields['next_offset']
    def next_column = @fields['next_column']

    def last? = next_offset.nil?

    def next_page
      last? ? nil : @fetch.call(offset: next_offset, column: next_column || 1)
    end

    # This page and all that follow, each read when it is asked for. Raises what RindBridge.read_output raises.
    def each_page
      return to_enum(:each_page) unless block_given?

      page = self
      while page
        yield page
        page = page.next_page
      end
      self
    end
  end
end
